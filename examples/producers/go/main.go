// Produces three messages of one session to Varve: go run . BOOTSTRAP TOPIC TENANT SESSION.
//
// With SIGNING_KEY_ID and SIGNING_KEY (64 hexadecimal digits) in the environment they are signed; TRACEPARENT goes along as it is.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var turns = []struct{ role, text string }{
	{"user", "I moved to Zürich."}, {"assistant", "How do you like it?"}, {"user", "The lake is lovely."},
}

type message struct {
	Tenant    string    `json:"tenant"`
	User      string    `json:"user"`
	Session   string    `json:"session"`
	ID        string    `json:"id"`
	Role      string    `json:"role"`
	Text      string    `json:"text"`
	EventTime time.Time `json:"event_time"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: go run . BOOTSTRAP TOPIC TENANT SESSION")
	}
	if err := produce(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}

func produce(bootstrap, topic, tenant, session string) error {
	timeout, err := deliveryTimeout()
	if err != nil {
		return err
	}
	// Idempotence, acks=all and the Java client's partitioner are franz-go's defaults.
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...), kgo.DefaultProduceTopic(topic), kgo.RecordDeliveryTimeout(timeout))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var records []*kgo.Record
	for number, turn := range turns {
		// The id is the same at a second try, so that trying again stores nothing twice.
		value, err := json.Marshal(message{tenant, "ada", session, fmt.Sprintf("m%d", number+1), turn.role, turn.text, time.Now().UTC()})
		if err != nil {
			return err
		}
		headers, err := recordHeaders(value)
		if err != nil {
			return err
		}
		records = append(records, &kgo.Record{Key: []byte(part(tenant) + "/" + part(session)), Value: value, Headers: headers})
	}
	results := client.ProduceSync(ctx, records...)
	if err := results.FirstErr(); err != nil {
		return fmt.Errorf("not every message was delivered: %w", err)
	}
	for _, result := range results {
		fmt.Printf("partition %d, offset %d\n", result.Record.Partition, result.Record.Offset)
	}
	return nil
}

func deliveryTimeout() (time.Duration, error) {
	if given := os.Getenv("DELIVERY_TIMEOUT_MS"); given != "" {
		return time.ParseDuration(given + "ms")
	}
	return time.Minute, nil
}

// part is a part of the key, percent-encoded. QueryEscape writes a space as forms do.
func part(name string) string {
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

func recordHeaders(value []byte) ([]kgo.RecordHeader, error) {
	var headers []kgo.RecordHeader
	if key := os.Getenv("SIGNING_KEY"); key != "" {
		secret, err := hex.DecodeString(key)
		if err != nil {
			return nil, fmt.Errorf("SIGNING_KEY is not hexadecimal: %w", err)
		}
		words := fmt.Sprintf("v1:%s:%d", os.Getenv("SIGNING_KEY_ID"), time.Now().UnixMilli())
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte("varve-signature:" + words + "\n"))
		mac.Write(value)
		headers = append(headers, kgo.RecordHeader{Key: "varve-signature", Value: []byte(words + ":" + hex.EncodeToString(mac.Sum(nil)))})
	}
	if trace := os.Getenv("TRACEPARENT"); trace != "" {
		headers = append(headers, kgo.RecordHeader{Key: "traceparent", Value: []byte(trace)})
	}
	return headers, nil
}
