import io.trino.server.Server;

/** Trino's server, whose own main class is in a library that Maven repositories lack: TrinoServer VERSION. */
public class TrinoServer {
    public static void main(String[] arguments) {
        new Server().start(arguments[0]);
    }
}
