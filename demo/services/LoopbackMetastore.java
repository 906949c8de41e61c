import java.net.InetSocketAddress;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;

/** The Hive Metastore, for this machine only: its own main class listens on every interface. */
public class LoopbackMetastore {
    public static void main(String[] arguments) throws Exception {
        HiveConf conf = new HiveConf(HiveMetaStore.class);
        IHMSHandler handler = RetryingHMSHandler.getProxy(
            conf, new HiveMetaStore.HMSHandler("loopback", conf, false), false);
        TServerSocket socket = new TServerSocket(
            new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])));
        TThreadPoolServer.Args settings = new TThreadPoolServer.Args(socket);
        settings.processor(new TSetIpAddressProcessor(handler));
        settings.transportFactory(new TTransportFactory());
        settings.protocolFactory(new TBinaryProtocol.Factory());
        settings.minWorkerThreads(4);
        settings.maxWorkerThreads(200);
        new TThreadPoolServer(settings).serve();
    }
}
