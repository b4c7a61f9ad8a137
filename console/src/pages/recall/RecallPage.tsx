import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { contextQuery, recallQuery, type Question, type Recalled } from "@/api/recall";
import { PageHeader, Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";
import { Tabs } from "@/ui/Tabs";
import { Json } from "@/ui/Json";

import { Candidates } from "./Candidates";
import { ContextPanel } from "./ContextPanel";
import { Pipeline } from "./Pipeline";
import { QuestionForm } from "./QuestionForm";
import { Results } from "./Results";
import { Rewriting } from "./Rewriting";
import { Summary } from "./Summary";
import { WhyNotList } from "./WhyNotList";

const route = getRouteApi("/recall");

export function RecallPage() {
  const { q = "", user, session, mode, limit, why } = route.useSearch();
  const [run, setRun] = useState(0);
  const question: Question = { query: q, user, session, mode, limit: Number(limit) || undefined, whyNot: why ? why.split(/[\s,]+/).filter(Boolean) : [] };
  const recalled = useQuery(recallQuery(question, run));
  const context = useQuery(contextQuery(question, run));
  return (
    <>
      <PageHeader title="Recall debugger" purpose="Ask as an application asks, and see what each step of the pipeline did and how each score came about." />
      <Panel>
        <QuestionForm busy={recalled.isFetching} onRepeat={() => setRun(run + 1)} />
      </Panel>
      {q === "" ? (
        <Panel>
          <Empty title="No question yet">Enter a question, for example “Where does Nora live?”. A recall here is counted like any other recall of the tenant.</Empty>
        </Panel>
      ) : (
        <QueryState query={recalled} rows={10}>
          {(found) => (
            <>
              <Summary recalled={found} />
              <div className="grid grid-cols-1 gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
                <div className="min-w-0 space-y-4">
                  <Found recalled={found} />
                </div>
                <div className="min-w-0 space-y-4">
                  <Pipeline recalled={found} />
                  <Rewriting recalled={found} />
                  <ContextPanel query={context} />
                </div>
              </div>
            </>
          )}
        </QueryState>
      )}
    </>
  );
}

function Found({ recalled }: { recalled: Recalled }) {
  const whyNot = recalled.why_not ?? [];
  const candidates = recalled.candidates ?? [];
  const [tab, setTab] = useState(whyNot.length > 0 ? "why" : "results");
  return (
    <Panel flush className="pb-4">
      <Tabs
        label="Parts of the response"
        value={tab}
        onChange={setTab}
        tabs={[
          { key: "results", title: `Results (${recalled.results.length})`, content: <Results recalled={recalled} /> },
          { key: "candidates", title: `Candidates (${candidates.length})`, content: <Candidates candidates={candidates} results={recalled.results} /> },
          { key: "why", title: `Why not (${whyNot.length})`, content: <WhyNotList answers={whyNot} /> },
          {
            key: "json",
            title: "JSON",
            content: (
              <div className="px-4">
                <Json label="The response as JSON" value={recalled} />
              </div>
            ),
          },
        ]}
      />
    </Panel>
  );
}
