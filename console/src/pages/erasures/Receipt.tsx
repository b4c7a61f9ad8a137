import type { Erasure } from "@/api/erasures";
import { Code } from "@/ui/Code";
import { Facts } from "@/ui/Facts";
import { inWords } from "@/ui/format";
import { Ago } from "@/ui/Moment";

import { ErasureState } from "./ErasureState";

export function Receipt({ erasure }: { erasure: Erasure }) {
  return (
    <div className="space-y-4">
      <ErasureState erasure={erasure} />
      <Facts
        items={[
          ["Tenant", erasure.tenant],
          ["Subject", <Code key="subject" text={erasure.subject} />],
          ["Reason", erasure.reason],
          ["Requested", <Ago key="requested" at={erasure.requested_at} full />],
          ["Verified", <Ago key="finished" at={erasure.finished_at} full />],
          ["Removed from Kafka by", erasure.gone_by && <Ago at={erasure.gone_by} full />],
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
