import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Properties;

/**
 * Runs statements in one session of a HiveServer2 that is embedded in this process: HiveStatements PORT PLACES.
 *
 * PLACES are the directories and jars of Hive, separated by colons. Hive 3.1 casts the loader of its own classes to
 * URLClassLoader, which that of a class path is not since Java 9, so Hive is loaded by one. Only java.sql is used of it
 * here.
 *
 * A client on the loopback address sends statements, each as a number of bytes and UTF-8. The answer is rows, each a
 * number of columns and their values, then 0, or -1 and a message. A value is a number of bytes and UTF-8, or -1 for
 * null. The port is opened when the session is ready.
 */
public class HiveStatements {
    private static final int DONE = 0;
    private static final int FAILED = -1;
    private static final int NULL = -1;

    public static void main(String[] arguments) throws Exception {
        Connection connection = connect(arguments[1].split(":"));
        ServerSocket server = new ServerSocket(Integer.parseInt(arguments[0]), 1, InetAddress.getByName("127.0.0.1"));
        while (true) {
            Socket socket = server.accept();
            try {
                serve(connection, socket);
            } catch (IOException gone) {
                System.err.println("the client has gone: " + gone);
            } finally {
                socket.close();
            }
        }
    }

    private static Connection connect(String[] places) throws Exception {
        URL[] urls = new URL[places.length];
        for (int i = 0; i < places.length; i++) {
            urls[i] = new File(places[i]).toURI().toURL();
        }
        URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        Driver driver = (Driver) loader.loadClass("org.apache.hive.jdbc.HiveDriver")
            .getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
        Properties user = new Properties();
        user.setProperty("user", System.getProperty("user.name"));
        user.setProperty("password", "");
        return driver.connect("jdbc:hive2:///default", user);
    }

    private static void serve(Connection connection, Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            int length = 0;
            try {
                length = in.readInt();
            } catch (EOFException end) {
                return;
            }
            byte[] statement = new byte[length];
            in.readFully(statement);
            answer(connection, new String(statement, "UTF-8"), out);
            out.flush();
        }
    }

    private static void answer(Connection connection, String sql, DataOutputStream out) throws IOException {
        String failure = null;
        try {
            Statement statement = connection.createStatement();
            try {
                if (statement.execute(sql)) {
                    writeRows(statement.getResultSet(), out);
                }
            } finally {
                statement.close();
            }
        } catch (IOException error) {
            throw error;
        } catch (Throwable error) {
            failure = described(error);
        }
        if (failure == null) {
            out.writeInt(DONE);
        } else {
            out.writeInt(FAILED);
            writeText(failure, out);
        }
    }

    private static void writeRows(ResultSet found, DataOutputStream out) throws Exception {
        int columns = found.getMetaData().getColumnCount();
        String[] row = new String[columns];
        while (found.next()) {
            for (int i = 0; i < columns; i++) {
                row[i] = text(found.getObject(i + 1));
            }
            out.writeInt(columns);
            for (int i = 0; i < columns; i++) {
                writeText(row[i], out);
            }
        }
    }

    private static String text(Object value) {
        if (value == null) {
            return null;
        }
        if (value instanceof byte[]) {
            return hex((byte[]) value);
        }
        if (value instanceof BigDecimal) {
            return ((BigDecimal) value).toPlainString();
        }
        return value.toString();
    }

    private static String hex(byte[] bytes) {
        StringBuilder shown = new StringBuilder("0x");
        for (int i = 0; i < bytes.length; i++) {
            shown.append(Character.forDigit((bytes[i] >> 4) & 15, 16)).append(Character.forDigit(bytes[i] & 15, 16));
        }
        return shown.toString();
    }

    private static String described(Throwable error) {
        StringBuilder shown = new StringBuilder(String.valueOf(error.getMessage()));
        Throwable cause = error.getCause();
        while (cause != null && cause.getCause() != cause) {
            shown.append(" | ").append(cause.toString());
            cause = cause.getCause();
        }
        return shown.toString();
    }

    private static void writeText(String value, DataOutputStream out) throws IOException {
        if (value == null) {
            out.writeInt(NULL);
            return;
        }
        byte[] bytes = value.getBytes("UTF-8");
        out.writeInt(bytes.length);
        out.write(bytes, 0, bytes.length);
    }
}
