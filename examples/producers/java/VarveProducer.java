import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Produces three messages of one session to Varve: java VarveProducer BOOTSTRAP TOPIC TENANT SESSION.
 *
 * <p>With SIGNING_KEY_ID and SIGNING_KEY (64 hexadecimal digits) in the environment they are signed; TRACEPARENT goes along as it is.
 */
public final class VarveProducer {
    private static final String[][] TURNS = {
        {"user", "I moved to Zürich."}, {"assistant", "How do you like it?"}, {"user", "The lake is lovely."}
    };
    private static final Map<String, String> ENVIRONMENT = System.getenv();

    public static void main(String[] words) throws Exception {
        if (words.length != 4) {
            throw new IllegalArgumentException("usage: java VarveProducer BOOTSTRAP TOPIC TENANT SESSION");
        }
        String topic = words[1];
        String tenant = words[2];
        String session = words[3];
        String timeout = ENVIRONMENT.getOrDefault("DELIVERY_TIMEOUT_MS", "60000");
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", words[0],
                "acks", "all",
                "enable.idempotence", true,
                "max.block.ms", timeout,
                "request.timeout.ms", String.valueOf(Integer.parseInt(timeout) / 2),
                "delivery.timeout.ms", timeout);
        byte[] key = (part(tenant) + "/" + part(session)).getBytes(UTF_8);
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int number = 1; number <= TURNS.length; number++) {
                byte[] value = value(tenant, session, number, TURNS[number - 1][0], TURNS[number - 1][1]);
                var record = new ProducerRecord<>(topic, key, value);
                if (ENVIRONMENT.containsKey("SIGNING_KEY")) {
                    record.headers().add("varve-signature", signature(value));
                }
                if (ENVIRONMENT.containsKey("TRACEPARENT")) {
                    record.headers().add("traceparent", ENVIRONMENT.get("TRACEPARENT").getBytes(UTF_8));
                }
                sent.add(producer.send(record));
            }
            for (Future<RecordMetadata> each : sent) {
                RecordMetadata there = each.get();
                System.out.printf("partition %d, offset %d%n", there.partition(), there.offset());
            }
        }
    }

    /** A part of the key, percent-encoded. URLEncoder writes forms, where four characters stand otherwise. */
    private static String part(String name) {
        return URLEncoder.encode(name, UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    /** The message. Its id is the same at a second try, so that trying again stores nothing twice. */
    private static byte[] value(String tenant, String session, int number, String role, String text) {
        return """
                {"tenant": %s, "user": "ada", "session": %s, "id": "m%d", "role": "%s", "text": %s, "event_time": "%s"}"""
                .formatted(json(tenant), json(session), number, role, json(text), Instant.now())
                .getBytes(UTF_8);
    }

    /** A text as JSON; an application has a library for this. */
    private static String json(String text) {
        StringBuilder written = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                written.append('\\').append(each);
            } else if (each < ' ') {
                written.append("\\u%04x".formatted((int) each));
            } else {
                written.append(each);
            }
        }
        return written.append('"').toString();
    }

    private static byte[] signature(byte[] value) throws java.security.GeneralSecurityException {
        String words = "v1:" + ENVIRONMENT.get("SIGNING_KEY_ID") + ":" + System.currentTimeMillis();
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(HexFormat.of().parseHex(ENVIRONMENT.get("SIGNING_KEY")), "HmacSHA256"));
        mac.update(("varve-signature:" + words + "\n").getBytes(UTF_8));
        return (words + ":" + HexFormat.of().formatHex(mac.doFinal(value))).getBytes(UTF_8);
    }
}
