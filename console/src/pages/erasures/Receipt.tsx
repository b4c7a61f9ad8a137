import type { Erasure } from "@/api/erasures";
import { Code } from "@/ui/Code";
import { Facts } from "@/ui/Facts";
import { inWords } from "@/ui/format";
import { Moment } from "@/ui/Moment";

import { ErasureState } from "./ErasuresPage";

export function Receipt({ erasure }: { erasure: Erasure }) {
  return (
    <div className="space-y-4">
      <ErasureState erasure={erasure} />
      <Facts
        items={[
          ["Tenant", erasure.tenant],
          ["Subject", <Code key="subject" text={erasure.subject} />],
          ["Reason", erasure.reason],
          ["Requested", <Moment key="requested" at={erasure.requested_at} />],
          ["Verified", <Moment key="finished" at={erasure.finished_at} />],
          ["Removed from Kafka by", erasure.gone_by && <Moment at={erasure.gone_by} />],
          ["Problem", erasure.problem && <span className="text-bad">{erasure.problem}</span>],
          ["Remains", erasure.remains.length > 0 && <span className="text-bad">{erasure.remains.join(", ")}</span>],
        ]}
      />
      {Object.keys(erasure.found).length > 0 && (
        <section>
          <h3 className="mb-2 text-xs font-semibold text-muted">Found and removed</h3>
          <Facts items={Object.entries(erasure.found).map(([name, count]) => [inWords(name), String(count)])} />
        </section>
      )}
    </div>
  );
}
