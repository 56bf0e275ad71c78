/** Memory for the states of check cases. */
import { required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import type { Value } from "../../ir/graph.ts";
import { elementTypes } from "../../ir/element-types.ts";
import { getElements, type Literal } from "../../ir/literal.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";
import { layOutStates } from "../../plan/state-layout.ts";
import { type CheckCase, sequenceCount } from "./case-builder.ts";

/** A state of a case: the rows of earlier runs, and the result of appending to them. */
interface State {
  readonly past: Literal;
  readonly appended: Value;
}

/** Allocates the state blocks of a graph with these cases, one for each sequence, writes the rows of earlier runs to them, and returns their offsets. */
export function allocateStates(memory: EngineMemory, stateBytes: number, cases: readonly CheckCase[]): readonly number[] {
  const states = cases.flatMap(getStates);
  if (states.length === 0) return [];
  const { offsets } = layOutStates(states.map(({ appended: { type } }) => ({ ...type, shape: type.shape.with(0, 1) })));
  return Array.from({ length: sequenceCount }, (_, sequence) => {
    const block = memory.allocate(stateBytes);
    for (const [index, { past }] of states.entries()) {
      const count = elementCount(past.shape) / sequenceCount;
      const View = elementTypes[past.dataType].array as Float64ArrayConstructor;
      const rows = new View(
        memory.memory.buffer as ArrayBuffer,
        block + required(offsets[index], "the offset of a state"),
        count,
      );
      rows.set((getElements(past) as Float64Array).subarray(sequence * count, (sequence + 1) * count));
    }
    return block;
  });
}

function getStates({ states = [], inputs, nodes }: CheckCase): readonly State[] {
  return states.map((value) => ({
    past: required(inputs.get(value), "the rows of a state"),
    appended: required(nodes.find((node) => node.inputs[0] === value)?.outputs[0], "the result of appending to a state"),
  }));
}
