// Checks documents by the service, and sends those that are admitted to Solr, as docs/serve.md says.
// Java 17 or newer, without libraries:
//
//   java Feed.java http://127.0.0.1:8985 http://localhost:8983/solr/articles < new.jsonl
//
import java.io.*;
import java.net.URI;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.regex.*;

public class Feed {
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    static final Pattern ADMITTED = Pattern.compile("\"action\":\"(allow|tag)\"");
    // The fields of /entries without the key. With a library for JSON, merge the two objects.
    static final Pattern FIELDS = Pattern.compile("\\[\\{\"[^\"]*\":\"(?:[^\"\\\\]|\\\\.)*\",(.*)\\}\\]");

    static class Refused extends Exception {
        Refused(String reason) { super(reason); }
    }

    public static void main(String[] arguments) throws Exception {
        String service = arguments[0], solr = arguments[1];
        int code = 0;
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; ) {
            try {
                String decision = post(service + "/check", line);
                System.out.println(decision);
                if (!ADMITTED.matcher(decision).find()) continue;
                var fields = FIELDS.matcher(post(service + "/entries", line));
                if (!fields.find()) throw new IllegalStateException("no fields in /entries");
                String document = line.substring(0, line.lastIndexOf('}')) + "," + fields.group(1) + "}";
                post(solr + "/update?commit=true", "[" + document + "]");
            } catch (Refused refused) {
                System.err.println("left out: " + line + "\n" + refused.getMessage());
                code = 1;
            }
        }
        System.exit(code);
    }

    static String post(String address, String json) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(address)).timeout(Duration.ofSeconds(30))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json)).build();
        var end = Instant.now().plusSeconds(600);
        for (int pause = 1; ; pause = Math.min(2 * pause, 16)) {
            int status = 503;
            String text, after = "";
            try {
                var answer = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
                status = answer.statusCode();
                text = answer.body();
                after = answer.headers().firstValue("Retry-After").orElse("");
            } catch (IOException nobodyAnswers) {
                text = nobodyAnswers.toString();
            }
            if (status == 200) return text;
            if (status == 400) throw new Refused(text);
            boolean mayPass = status == 429 || status >= 500;
            if (!mayPass || Instant.now().isAfter(end))
                throw new IOException(address + ": " + status + " " + text);
            int least = after.matches("\\d{1,4}") ? Integer.parseInt(after) : 0;
            double wait = Math.max(pause, least) * (1 + Math.random() / 4);
            System.err.printf("%d, again in %.1f s: %s%n", status, wait, text);
            Thread.sleep((long) (1000 * wait));
        }
    }
}
