/** Runs cases on onnxruntime-node or onnxruntime-web, with nothing of ours between. */
import { createRequire } from "node:module";
import type * as onnxruntime from "onnxruntime-node";
import { getMessage } from "../../src/contract/errors.ts";
import type { OnnxModel } from "../../src/engine/index.ts";
import { type OpenCase, Refused } from "./judge.ts";
import type { CaseValue } from "./values.ts";

const require = createRequire(import.meta.url);

type Library = typeof onnxruntime;
type Tensor = onnxruntime.Tensor;

/** Element types that both libraries take from JavaScript, one element per array slot. */
const passable = new Set([
  "float32",
  "float64",
  "float16",
  "int8",
  "int16",
  "int32",
  "int64",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "bool",
  "string",
]);

/** Messages at a run that say that something is not built, in place of a wrong result. */
const notBuilt = /not implemented|not supported|unsupported|NOT_IMPLEMENTED|Non tensor type/i;

export function openOnnxRuntime(name: "onnxruntime-node" | "onnxruntime-web"): OpenCase {
  const library = require(name) as Library;
  library.env.logLevel = "fatal";
  if (name === "onnxruntime-web") library.env.wasm.numThreads = 1;
  return async (model, bytes) => {
    const session = await library.InferenceSession.create(bytes, {
      logSeverityLevel: 4,
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
    }).catch((error: unknown) => {
      if (isDead(error)) throw error;
      throw new Refused(getMessage(error));
    });
    return {
      run: async (inputs) => {
        const feeds = Object.fromEntries(namedInputs(library, model, inputs));
        const results = await session.run(feeds).catch((error: unknown) => {
          throw notBuilt.test(getMessage(error)) ? new Refused(getMessage(error)) : error;
        });
        return model.graph.outputs.map(({ name: output }) => caseValueOf(results[output] as Tensor));
      },
      close: async () => await session.release(),
    };
  };
}

/** WebAssembly that aborted answers nothing any more: its process has to be started again. */
export function isDead(error: unknown): boolean {
  return /Aborted|unreachable|out of bounds|RuntimeError/.test(getMessage(error));
}

function namedInputs(library: Library, { graph }: OnnxModel, inputs: readonly CaseValue[]): [string, Tensor][] {
  return inputs.map((input, index) => {
    if (input.kind !== "tensor") throw new Refused(`the library takes no ${input.kind} from JavaScript`);
    const { dataType, data, shape } = input.literal;
    if (!passable.has(dataType)) throw new Refused(`the library takes no ${dataType} from JavaScript`);
    return [graph.inputs[index]!.name, new library.Tensor(dataType as "float32", data as Float32Array, [...shape])];
  });
}

function caseValueOf({ type, dims, data }: Tensor): CaseValue {
  if (!passable.has(type)) throw new Refused(`the library gives ${type}`);
  return { kind: "tensor", literal: { dataType: type, shape: dims, data: type === "float16" ? bitsOf(data) : data } };
}

/** From Node.js 24 on the library gives float16 as Float16Array. */
function bitsOf(data: Tensor["data"]): Uint16Array {
  const { buffer, byteOffset, byteLength } = data as Uint16Array;
  return new Uint16Array(buffer, byteOffset, byteLength / 2);
}
