/** Makes plain data of plans, for processes that come later. */
import { required } from "../../../contract/checked.ts";
import type { Literal } from "../../ir/literal.ts";
import type { BufferRef, Plan, TensorRef } from "../../plan/plan.ts";
import type { PackedWeights } from "../../lower/lowered-node.ts";
import { isTensor } from "../../build/traced-value.ts";
import type { CountedStep } from "../executable.ts";
import type { TracedSegment } from "../segments/trace-segment.ts";
import type { KeptExecutable, KeptKernels, KeptLiteral, KeptPlace, KeptPlan, KeptWeights } from "./kept-plan.ts";

/** What a plan depends on beside itself. */
export interface PlanContext {
  /** Number of a tensor in the constant-folding cache of the model; undefined if it belongs to one plan. */
  getTensor(literal: Literal): number | undefined;
  /** The packed data of weights that an executable has packed. */
  read(weights: PackedWeights): Uint8Array;
  getId(step: CountedStep): string;
  /** Kernels by their keys, with all that were compiled with them; undefined for kernels that are not compiled yet. */
  compiledWith(key: string): KeptKernels | undefined;
}

/** Thrown for what is kept in no file. The message is a clause. */
class NotKeptError extends Error {}

/** Returns the result of `keep`, or why nothing is kept: a clause. */
export function keepOrReason<Result>(keep: () => Result): Result | string {
  try {
    return keep();
  } catch (error) {
    if (error instanceof NotKeptError) return error.message;
    throw error;
  }
}

/** The plan of a compiled graph. Throws where a plan has steps of the interpreter, strings or states, or kernels that are not compiled: see `keepOrReason`. */
export function keepExecutable(plan: Plan, { getTensor, read, getId, compiledWith }: PlanContext): KeptExecutable {
  const weights: KeptWeights[] = [];
  const weightsIndex = new Map<PackedWeights, number>();
  const addWeights = (packed: PackedWeights): number => {
    const known = weightsIndex.get(packed);
    if (known !== undefined) return known;
    const { source, layout, bytes } = packed;
    const tensor = getTensor(source);
    weights.push({ tensor, layout, bytes, ...(tensor === undefined ? { data: read(packed).slice() } : {}) });
    weightsIndex.set(packed, weights.length - 1);
    return weights.length - 1;
  };
  const place = (ref: BufferRef): KeptPlace => {
    if (ref.region === "arena") return { arena: ref.offset };
    if (ref.region === "weights") return { weights: addWeights(ref.weights), byteOffset: ref.byteOffset };
    throw new NotKeptError("it has states or strings");
  };
  const tensor = ({ type, buffer }: TensorRef): { type: TensorRef["type"]; place: KeptPlace } => ({ type, place: place(buffer) });
  const kernels: KeptExecutable["kernels"][number][] = [];
  const kernelIndex = new Map<string, number>();
  const compiled = new Set<KeptKernels>();
  const steps = plan.steps.map((step): KeptExecutable["steps"][number] => {
    if (step.kind !== "kernel") throw new NotKeptError("the interpreter or plain TypeScript computes some of its steps");
    const { key, family, parameters, scratchBytes, dynamicSizes, pieces, pieceNanoseconds, tilePieces } = step.kernel;
    const index = `${key} ${scratchBytes} ${parameters.length}`;
    if (!kernelIndex.has(index)) kernelIndex.set(index, kernels.push({ key, family, parameters, scratchBytes }) - 1);
    const group = compiledWith(key);
    if (group === undefined) throw new NotKeptError("some of its kernels are not compiled yet");
    compiled.add(group);
    const operands = step.operands.map(place);
    const kernel = required(kernelIndex.get(index), "the kernel of a step");
    const id = getId({ id: step.id, key, family });
    return { id, kernel, dynamicSizes, pieces, pieceNanoseconds, tilePieces, operands, scratch: step.scratch };
  });
  return {
    kernels,
    steps,
    constants: plan.constants.map(({ literal, offset }) => ({ literal: keepLiteral(literal), offset })),
    arenaBytes: plan.arenaBytes,
    inputs: plan.inputs.map(({ name, ...ref }) => ({ name, ...tensor(ref) })),
    outputs: plan.outputs.map(({ name, source }) => ({
      name,
      source: "buffer" in source ? tensor(source) : keepLiteral(source),
    })),
    weights,
    compiled: [...compiled],
  };
}

/** The inputs and outputs of a segment that is a whole model. Throws where the model is divided, or has outputs that are no tensors: see `keepOrReason`. */
export function keepInterface({
  inputs,
  graphInputs,
  graphOutputs,
  terminator,
}: TracedSegment): Pick<KeptPlan, "inputNames" | "results"> {
  if (terminator.kind !== "end") throw new NotKeptError("its shapes depend on values that it computes");
  const names = new Map([...inputs].map(([name, value]) => [value, name]));
  const inputNames = graphInputs.map((value) => {
    const name = names.get(value);
    if (name === undefined) throw new NotKeptError("it takes inputs that are no tensors");
    return name;
  });
  const results = [...terminator.outputs].map(([name, value]): KeptPlan["results"][number] => {
    if (!isTensor(value)) throw new NotKeptError("it has outputs that are no tensors");
    if (value.constant !== undefined) return { name, from: keepLiteral(value.constant) };
    const given = names.get(value);
    if (given !== undefined) return { name, from: given };
    const index = graphOutputs.indexOf(value);
    if (index < 0) throw new NotKeptError("it has outputs that nothing computes");
    return { name, from: index };
  });
  return { inputNames, results };
}

function keepLiteral({ dataType, shape, data }: Literal): KeptLiteral {
  if (dataType === "string") throw new NotKeptError("it has strings");
  return { dataType, shape, data: data.slice() }; // a view is written with all its buffer
}
