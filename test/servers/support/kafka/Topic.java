import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** `BROKERS create TOPIC PARTITIONS`, or `BROKERS read TOPIC`: writes each committed record as a line of JSON. */
public class Topic {
  public static void main(String[] arguments) throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", arguments[0], "isolation.level", "read_committed");
    if (arguments[1].equals("create")) create(settings, arguments[2], Integer.parseInt(arguments[3]));
    else read(settings, arguments[2]);
  }

  static void create(Map<String, Object> settings, String topic, int partitions) throws Exception {
    try (Admin admin = Admin.create(settings)) {
      admin.createTopics(List.of(new NewTopic(topic, Optional.of(partitions), Optional.empty()))).all().get();
    }
  }

  static void read(Map<String, Object> settings, String topic) throws Exception {
    ObjectMapper json = new ObjectMapper();
    StringBuilder lines = new StringBuilder();
    try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
        .map((info) -> new TopicPartition(topic, info.partition())).collect(Collectors.toList());
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (ends.entrySet().stream().anyMatch((end) -> consumer.position(end.getKey()) < end.getValue())) {
        for (var message : consumer.poll(Duration.ofMillis(200))) {
          Map<String, Object> fields = new TreeMap<>();
          fields.put("partition", message.partition());
          fields.put("offset", message.offset());
          fields.put("timestamp", message.timestamp());
          fields.put("key", message.key());
          fields.put("value", message.value());
          Map<String, String> headers = new TreeMap<>();
          message.headers().forEach((header) -> headers.put(header.key(), new String(header.value())));
          fields.put("headers", headers);
          lines.append(json.writeValueAsString(fields)).append('\n');
        }
      }
    }
    System.out.print(lines);
    System.out.flush();
  }
}
