import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Properties;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.ObjectStore;
import org.datanucleus.api.jdo.JDOPersistenceManagerFactory;
import org.datanucleus.store.schema.SchemaAwareStoreManager;

/** Makes the tables for the given classes in a metastore's database that has none, and closes the database. */
public class MetastoreSchema {
    public static void main(String[] classes) throws Exception {
        ObjectStore store = new ObjectStore();
        store.setConf(new HiveConf(HiveMetaStore.class));
        JDOPersistenceManagerFactory factory =
            (JDOPersistenceManagerFactory) store.getPersistenceManager().getPersistenceManagerFactory();
        SchemaAwareStoreManager manager =
            (SchemaAwareStoreManager) factory.getNucleusContext().getStoreManager();
        manager.createSchemaForClasses(new HashSet(Arrays.asList(classes)), new Properties());
        factory.close();
        try {
            DriverManager.getConnection("jdbc:derby:;shutdown=true");
        } catch (SQLException closed) {
            // Derby says so by an exception, also where all went well.
            System.out.println(closed.getSQLState());
        }
    }
}
