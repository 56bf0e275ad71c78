/** Loads an ONNX file for our own engine. */
import { InferyardError, messageOf, throwIfAborted } from "../../backend.ts";
import type { DataType, Library, LoadOptions, LoadedModel, ModelFiles, TensorInfo } from "../../backend.ts";
import {
  checkOperators,
  type ExternalData,
  type OnnxType,
  onnxSource,
  type OnnxValueInfo,
  readOnnxModel,
} from "../../engine/index.ts";
import { openFile } from "../../files.ts";
import { basename, dirname, isAbsolute, join, normalize, sep } from "../../paths.ts";
import { engineFor } from "./engine-for.ts";
import { GraphModel } from "./graph-model.ts";

/** Types of our tensors; the smaller ones of models do not leave them. */
const outside: ReadonlySet<string> = new Set<DataType>([
  "float32",
  "float64",
  "float16",
  "bfloat16",
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

export async function loadOnnx(file: ModelFiles, options: LoadOptions, library: Library): Promise<LoadedModel> {
  const shown = basename(file.path);
  const bytes = await readWhole(file.path);
  throwIfAborted(options.signal);
  const { model, external } = readOnnxModel(bytes, shown);
  checkOperators(model);
  await fill(external, dirname(file.path), shown);
  throwIfAborted(options.signal);
  const { graph } = model;
  const inputs = graph.inputs.filter(({ name }) => !graph.initializers.has(name)).map((value) => infoOf(value));
  const outputs = graph.outputs.filter(({ type }) => type.kind === "tensor").map((value) => infoOf(value));
  if (outputs.length === 0) throw new InferyardError("MODEL_UNSUPPORTED", `${shown} gives no tensor`);
  const others = graph.outputs.filter(({ type }) => type.kind !== "tensor").map(({ name }) => name);
  const engine = engineFor(onnxSource(model), options);
  engine.prepare(inputs);
  return new GraphModel({ engine, inputs, outputs, others, library, weightBytes: file.bytes });
}

async function readWhole(path: string): Promise<Uint8Array> {
  const handle = await openFile(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new InferyardError("MODEL_NOT_FOUND", `there is no file ${path}`, { remedy: "check the path", cause: error });
  });
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(size);
    await readInto(handle, bytes, 0);
    return bytes;
  } finally {
    await handle.close();
  }
}

async function readInto(handle: Awaited<ReturnType<typeof openFile>>, bytes: Uint8Array, from: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, from + done);
    if (bytesRead === 0) throw new Error(`it ends ${bytes.length - done} bytes too early`);
    done += bytesRead;
  }
}

/** Elements in files beside the model. A name that leads out of the model's folder is refused. */
async function fill(external: readonly ExternalData[], folder: string, shown: string): Promise<void> {
  for (const { location, offset, bytes, unpack } of external) {
    const inside = normalize(location);
    if (location === "" || isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`)) {
      throw new InferyardError("MODEL_INVALID", `${shown} keeps elements in ${JSON.stringify(location)}, which is not beside it`);
    }
    try {
      const handle = await openFile(join(folder, inside));
      try {
        await readInto(handle, bytes, offset);
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw new InferyardError(
        "MODEL_INVALID",
        `${shown} keeps elements in ${inside}, which cannot be read: ${messageOf(error)}`,
        {
          remedy: "download the whole model again, with all its files",
          cause: error,
        },
      );
    }
    unpack();
  }
}

function infoOf({ name, type }: OnnxValueInfo): TensorInfo {
  if (type.kind !== "tensor" || !outside.has(type.dataType)) {
    throw new InferyardError("MODEL_UNSUPPORTED", `"${name}" is ${described(type)}, which no tensor here can hold`);
  }
  return { name, dataType: type.dataType as DataType, shape: (type.shape ?? []).map((size) => size ?? "") };
}

function described(type: OnnxType): string {
  if (type.kind === "tensor") return type.dataType;
  return type.kind === "other" ? type.name : `a ${type.kind}`;
}
