import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** OpenSearch as one node, without its distribution. Arguments: a folder, the port of HTTP, the port of nodes. */
public class Main extends Node {
  Main(Settings settings) {
    super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node"), List.of(Netty4Plugin.class), false);
  }

  public static void main(String[] arguments) throws Exception {
    Path home = Path.of(arguments[0]).toAbsolutePath();
    Files.createDirectories(home.resolve("config"));
    Settings settings = Settings.builder()
      .put("path.home", home.toString())
      .put("cluster.name", "test")
      .put("node.name", "node")
      .put("discovery.type", "single-node")
      .put("network.host", "127.0.0.1")
      .put("http.port", arguments[1])
      .put("transport.port", arguments[2])
      .put("http.type", "netty4")
      .put("transport.type", "netty4")
      .put("cluster.routing.allocation.disk.threshold_enabled", false)
      .build();
    Main node = new Main(settings);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        node.close();
      } catch (Exception error) {
        error.printStackTrace();
      }
    }));
    node.start();
    Thread.currentThread().join();
  }
}
