/** Events of the runtime as clients and the log see them. */
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import { scrub } from "../http/scrub.ts";

/** An event as plain data, without paths of the machine. */
export type PublicEvent = { readonly type: RuntimeEvent["type"]; readonly model: string } & Readonly<Record<string, unknown>>;

/** The form of a runtime event that `GET /api/events` sends: references without folders, addresses without credentials, and identifiers in place of whole decisions. */
export function publicEvent(event: RuntimeEvent): PublicEvent {
  switch (event.type) {
    case "loaded": {
      const { decision } = event;
      const target = decision.selected?.target;
      const { milliseconds, reason = "" } = decision.candidates.find(({ verdict }) => verdict === "selected") ?? {};
      const placement = { target, reason: scrub(reason), decision: decision.id };
      return { type: event.type, model: scrub(decision.model.reference), ...placement, milliseconds };
    }
    case "fallback":
    case "loading":
    case "load-failed":
    case "died":
    case "restarted": {
      const { reference, reason, ...fields } = { reason: undefined, ...event };
      return { ...fields, model: scrub(reference), ...(reason === undefined ? {} : { reason: scrub(reason) }) };
    }
    case "unloaded": {
      const { target, why } = event;
      const cause = why === "evicted" ? { evictedFor: scrub(event.evictedFor) } : {};
      return { type: event.type, model: scrub(event.reference), target, why, ...cause };
    }
    case "failover":
      return { type: event.type, model: scrub(event.reference), from: event.from, reason: scrub(event.reason) };
    case "download": {
      const { stage, bytes } = event.progress;
      return { type: event.type, model: scrub(event.reference), stage, bytes };
    }
    default:
      return event satisfies never;
  }
}
