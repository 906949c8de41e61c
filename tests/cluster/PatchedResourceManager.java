import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.security.DelegationTokenRenewer;

/**
 * YARN's ResourceManager without the thread that watches for renewals of tokens that hang. That thread never sleeps
 * (YARN-11178, mended in Hadoop 3.4): with Kerberos it takes a whole processor. Tokens are renewed as ever.
 */
public class PatchedResourceManager extends ResourceManager {
    protected DelegationTokenRenewer createDelegationTokenRenewer() {
        DelegationTokenRenewer renewer = super.createDelegationTokenRenewer();
        renewer.setDelegationTokenRenewerPoolTracker(false);
        return renewer;
    }

    public static void main(String[] arguments) {
        ResourceManager manager = new PatchedResourceManager();
        try {
            manager.init(new YarnConfiguration());
            manager.start();
        } catch (Throwable error) {
            error.printStackTrace();
            System.exit(1);
        }
    }
}
