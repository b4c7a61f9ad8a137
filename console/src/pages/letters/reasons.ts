const PRODUCER = "Correct the application that sends it; the letter itself can only be purged.";

/** What each reason means and what to do, by the reason's name in the API. */
const REASONS: Record<string, string> = {
  bad_key: `The record is not what its topic holds. ${PRODUCER}`,
  bad_position: `The record is not what its topic holds. ${PRODUCER}`,
  bad_record: `The record is not what its topic holds. ${PRODUCER}`,
  malformed: `The record is not what its topic holds. ${PRODUCER}`,
  unsupported_version: "A newer version of Varve or of a client wrote the record. Upgrade the stages, then redrive it.",
  too_large: "The record, or what would be made of it, is larger than VARVE_KAFKA__MAX_RECORD_BYTES. Raise the limit and redrive it, or purge it.",
  unknown_tenant: "There is no such tenant. Add it, then redrive the letter.",
  unreadable_tenant: "A worker could not read the tenant's record of the control log for ten minutes. Upgrade the worker, or write the record again, then redrive the letter.",
  unknown_schema: "There is no such schema. Store it, then redrive the letter.",
  crashed_worker: "Workers died at this record again and again. Remove the cause, then redrive it.",
  gave_up: "All attempts failed, although the services that the stage needs worked for other records. Remove the cause that is named above, then redrive it.",
  expired: "Kafka’s retention removed the record while it waited. Raise the retention of its topic.",
  unsigned: "The message has no signature, and the tenant requires one. Let its producer sign; “varve dlq redrive --vouch” accepts this one.",
  bad_signature: "The signature does not fit the message. Check the producer’s key; “varve dlq redrive --vouch” accepts this one.",
  forged_header: `The message has a header that only Varve may set. ${PRODUCER}`,
  future_dated: "Its time is too far in the future. Check the producer’s clock. Redrive the letter once that time has come.",
  changed_message: "A message with this id is known with another text. To change a message, send an edit; to add one, send another id.",
  unknown_message: "An edit or a deletion names a message that the user does not have in the session. Redrive it once the message has arrived.",
  bad_answer: "The replies of the model could not be used; the last one is below. Change the model or its settings, then redrive it.",
  input_refused: "The model refuses this text. Redrive it with another model, or purge it.",
  lookup_without_user: "The schema looks up memories for an entity of no user. Give its type the key “user”, then redrive it.",
  unknown_entity_type: "The tenant’s schema no longer has the type of entity. Purge the letter, or restore the type and redrive it.",
  unknown_property: "The tenant’s schema no longer has the property. Purge the letter, or restore the property and redrive it.",
  store_rejected: "The vector store refused the memory. Remove the cause that is named above, then redrive it.",
};

export const meaningOf = (reason: string): string | undefined => REASONS[reason];
