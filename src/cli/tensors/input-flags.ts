/** `--input name=value`: the input tensors of a run. */
import { invalidInput } from "../../contract/errors.ts";
import { type Tensor, type TensorInfo, type TensorMap, checkInputs, describeInfo } from "../../contract/tensor.ts";
import { readNpy } from "./read-npy.ts";
import { tensorOfJson } from "./json-tensor.ts";
import { parseGivenJson, readGivenText } from "../input/given-file.ts";

/** One --input: a tensor from a .npy file, or JSON whose data type the model determines. */
export type GivenInput = { readonly tensor: Tensor } | { readonly json: unknown };

const forms = "--input name=@file.npy, name=@file.json, or JSON: --input 'name=[[1, 2]]'";

/** Reads everything that can be checked before a model is loaded. Throws INPUT_INVALID. */
export async function readInputs(flags: readonly string[]): Promise<ReadonlyMap<string, GivenInput>> {
  const inputs = new Map<string, GivenInput>();
  for (const flag of flags) {
    const end = flag.indexOf("=");
    if (end < 1) throw invalidInput(`--input ${flag} names no input`, `write ${forms}`);
    const name = flag.slice(0, end);
    if (inputs.has(name)) throw invalidInput(`input "${name}" was given twice`, "give it once");
    inputs.set(name, await readInput(name, flag.slice(end + 1)));
  }
  return inputs;
}

async function readInput(name: string, value: string): Promise<GivenInput> {
  if (!value.startsWith("@"))
    return { json: parseGivenJson(value, `input "${name}"`, "write strings in quotes, and numbers in brackets") };
  const path = value.slice(1);
  if (path.endsWith(".npy")) return { tensor: await readNpy(path) };
  if (path.endsWith(".json")) return { json: parseGivenJson(await readGivenText(path), path, "check the file") };
  throw invalidInput(`input "${name}" is to come from ${path}, which is neither .npy nor .json`, `write ${forms}`);
}

/**
 * The tensors, each of the type that the model declares. Throws INPUT_INVALID, naming every input that is missing, unknown or of another shape.
 */
export function tensorsFor(expected: readonly TensorInfo[], given: ReadonlyMap<string, GivenInput>): TensorMap {
  refuseNames(expected, [...given.keys()]);
  const tensors = expected.flatMap((info) => {
    const input = given.get(info.name);
    if (input === undefined) return [];
    return [[info.name, "tensor" in input ? ofType(input.tensor, info) : tensorOfJson(input.json, info)] as const];
  });
  const map: TensorMap = Object.fromEntries(tensors);
  checkInputs(expected, map);
  return map;
}

function refuseNames(expected: readonly TensorInfo[], given: readonly string[]): void {
  const unknown = given.filter((name) => !expected.some((info) => info.name === name)).map((name) => `unknown input "${name}"`);
  const missing = expected.filter(({ name }) => !given.includes(name)).map(({ name }) => `missing input "${name}"`);
  const problems = [...unknown, ...missing];
  if (problems.length === 0) return;
  const taken = expected.map((info) => `${info.name} ${describeInfo(info)}`).join(", ");
  throw invalidInput(problems.join("; "), `this model takes ${taken === "" ? "no inputs" : taken}`, { problems });
}

function ofType(tensor: Tensor, info: TensorInfo): Tensor {
  if (tensor.dataType === info.dataType) return tensor;
  throw invalidInput(
    `input "${info.name}" is ${tensor.dataType} in its file, and the model takes ${describeInfo(info)}`,
    `save it so: array.astype("${info.dataType === "string" ? "str" : info.dataType}")`,
  );
}
