#!/bin/sh
# Sends a message, waits until it is extracted, recalls it, corrects it: VARVE_CLIENT__API_KEY=... ./curl.sh [USER]
# VARVE_CLIENT__URL names the service if it is not at http://127.0.0.1:8080. Needs curl and jq.
set -eu
url=${VARVE_CLIENT__URL:-http://127.0.0.1:8080}
user=${1:-ann}
session=curl-$$

call() { # METHOD PATH [BODY]: prints the response, or fails with the problem that the service reports
    curl --silent --show-error --fail-with-body --request "$1" "$url$2" ${3:+--data "$3"} \
        --header "Authorization: Bearer $VARVE_CLIENT__API_KEY" --header 'Content-Type: application/json'
}

call POST /v1/messages "{\"user\": \"$user\", \"session\": \"$session\", \"id\": \"m1\", \"role\": \"user\", \"speaker\": \"Ann\",
    \"text\": \"I moved to Bergen last week.\", \"event_time\": \"2024-05-06T18:00:00Z\"}" | jq --compact-output .
call POST /v1/flush "{\"session\": \"$session\"}" | jq --compact-output .

# Extraction is asynchronous: ask until the message's event can be recalled.
found=null
for _ in $(seq 60); do
    found=$(call POST /v1/recall "{\"query\": \"Where does Ann live?\", \"user\": \"$user\", \"sessions\": [\"$session\"]}" | jq '.results[0]')
    [ "$found" = null ] || break
    sleep 1
done
echo "$found" | jq '{content, evidence}'

# A person corrects what was said. The id, the evidence and the earlier wording are kept.
id=$(echo "$found" | jq --raw-output .id)
call PATCH "/v1/memories/$id" '{"content": "Ann moved to Oslo", "properties": {"place": "Oslo"}, "reason": "misheard"}' | jq --compact-output .
