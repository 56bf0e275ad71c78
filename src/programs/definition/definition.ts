/** What `defineProgram` collects. */
import type { TensorInfo } from "../../contract/tensor.ts";
import type { ProgramState, ProgramWeight } from "./program.ts";
import type { OperatorUse, ProgramValue, UserOperatorUse } from "./program-value.ts";

/** The tensors and operators of a program, in the order in which they were given. */
export interface Definition {
  readonly inputs: TensorInfo[];
  readonly weights: ProgramWeight[];
  readonly states: ProgramState[];
  readonly updates: Map<string, ProgramValue>;
  readonly uses: (OperatorUse | UserOperatorUse)[];
}
