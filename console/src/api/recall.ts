import { queryOptions } from "@tanstack/react-query";

import { api, unwrap, type Schemas } from "./client";

export type Recalled = Schemas["Recalled"];
export type Result = Schemas["RecalledMemory"];
export type Candidate = Schemas["Candidate"];
export type WhyNot = Schemas["WhyNot"];
export type ContextBlock = Schemas["Context"];

export type Step = Schemas["RecallStep"];

export interface Question {
  query: string;
  user?: string;
  session?: string;
  mode?: string;
  limit?: number;
  whyNot: string[];
}

const asked = (question: Question) => ({
  query: question.query,
  user: question.user ?? null,
  session: question.session ?? null,
  mode: (question.mode ?? null) as Schemas["RecallBody"]["mode"],
});

/** A recall with everything that explains it. It is not repeated by itself: it costs a model call with `sift` and `expand`. */
export function recallQuery(question: Question, run: number) {
  return queryOptions({
    queryKey: ["recall", question, run],
    enabled: question.query !== "",
    staleTime: Infinity,
    queryFn: () =>
      unwrap(api.POST("/v1/recall", { body: { ...asked(question), limit: question.limit ?? null, explain: true, why_not: question.whyNot } })),
  });
}

/** The block that an LLM gets for the same question. */
export function contextQuery(question: Question, run: number) {
  const body = asked(question);
  return queryOptions({
    queryKey: ["context", body, run],
    enabled: question.query !== "",
    staleTime: Infinity,
    queryFn: () => unwrap(api.POST("/v1/context", { body })),
  });
}
