/** One worker thread that compiles grammars and computes masks, as its pool sees it. */
import { CallThread } from "../../../threads/call-thread.ts";
import type { ResultMessage } from "../../../threads/thread-program.ts";
import type { ConstraintCallMessage, ThreadResult } from "./protocol.ts";

/** A worker thread that performs one call at a time. */
export class GrammarThread extends CallThread<ConstraintCallMessage, ResultMessage<ThreadResult>> {
  /** Heap that the thread held after its last call, in use or not, in bytes. */
  heapBytes = 0;

  /** `heap`: its limit in MiB. `onEnd`: called once the thread performs no more calls. */
  constructor(program: URL, heap: number, onEnd: () => void = () => {}) {
    super({ program, heapMebibytes: heap, onEnd });
  }

  override async perform(message: ConstraintCallMessage): Promise<ResultMessage<ThreadResult>> {
    const result = await super.perform(message);
    this.heapBytes = result.heapBytes;
    return result;
  }

  /** Frees a grammar. The thread does not reply. */
  drop(grammar: number): void {
    this.send({ operation: "drop", args: { grammar } });
  }
}
