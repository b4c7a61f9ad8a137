// Produces three messages of one session to Varve: node producer.js BOOTSTRAP TOPIC TENANT SESSION, after npm ci and npm run build.
//
// With SIGNING_KEY_ID and SIGNING_KEY (64 hexadecimal digits) in the environment they are signed; TRACEPARENT goes along as it is.
import { createHmac } from "node:crypto";
import { Kafka, Partitioners, type IHeaders } from "kafkajs";

const TURNS = [
  ["user", "I moved to Zürich."],
  ["assistant", "How do you like it?"],
  ["user", "The lake is lovely."],
] as const;

/** A part of the key, percent-encoded. encodeURIComponent leaves five characters that the key does not. */
function part(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (each) => "%" + each.charCodeAt(0).toString(16).toUpperCase());
}

function recordHeaders(value: Buffer): IHeaders {
  const { SIGNING_KEY, SIGNING_KEY_ID, TRACEPARENT } = process.env;
  const headers: IHeaders = {};
  if (SIGNING_KEY) {
    const words = `v1:${SIGNING_KEY_ID}:${Date.now()}`;
    const mac = createHmac("sha256", Buffer.from(SIGNING_KEY, "hex")).update(`varve-signature:${words}\n`).update(value);
    headers["varve-signature"] = `${words}:${mac.digest("hex")}`;
  }
  if (TRACEPARENT) headers["traceparent"] = TRACEPARENT;
  return headers;
}

async function main(bootstrap: string, topic: string, tenant: string, session: string): Promise<void> {
  const timeout = Number(process.env.DELIVERY_TIMEOUT_MS ?? "60000");
  const kafka = new Kafka({ clientId: "varve-producer", brokers: bootstrap.split(","), requestTimeout: timeout });
  // The default partitioner of kafkajs 2 is the Java client's. Idempotence keeps the order with one request in flight only.
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
  });
  await producer.connect();
  try {
    const messages = TURNS.map(([role, text], index) => {
      // The id is the same at a second try, so that trying again stores nothing twice.
      const message = { tenant, user: "ada", session, id: `m${index + 1}`, role, text, event_time: new Date().toISOString() };
      const value = Buffer.from(JSON.stringify(message));
      return { key: `${part(tenant)}/${part(session)}`, value, headers: recordHeaders(value) };
    });
    for (const sent of await producer.send({ topic, messages, acks: -1, timeout })) {
      console.log(`partition ${sent.partition}, from offset ${sent.baseOffset}`);
    }
  } finally {
    await producer.disconnect();
  }
}

const [bootstrap, topic, tenant, session] = process.argv.slice(2);
if (!bootstrap || !topic || !tenant || !session) throw new Error("usage: node producer.js BOOTSTRAP TOPIC TENANT SESSION");
await main(bootstrap, topic, tenant, session);
