/** Reads the outline of an ONNX file: everything but the elements of its tensors. The engine reads whole models (engine/onnx/read-model.ts) from the same messages. */
import { type FileWindow, type Reading, withFileWindow } from "../file-window.ts";
import { GraphContent, type OnnxGraphOutline, type OnnxOperatorUse } from "./onnx-graph.ts";
import { type OnnxMessage, readOnnxMessages } from "./onnx-messages.ts";
import type { OnnxTensorOutline } from "./onnx-tensor.ts";
import { getLastRange } from "../protobuf/ranges.ts";

/** The beginning of a text, and how long the whole is. */
export interface TextStart {
  readonly value: string;
  readonly bytes: number;
}

/** A function that an ONNX file defines and that its graphs use like an operator. */
export interface OnnxFunctionOutline {
  readonly domain: string;
  readonly name: string;
  /** Operators that its body uses. */
  readonly operators: readonly OnnxOperatorUse[];
  /** Versions of the operator sets that its body uses, by domain; the model's if it states none. */
  readonly opsets: ReadonlyMap<string, number>;
}

/** An ONNX file without the elements of its tensors: version, opsets, metadata, and the outline of its graph. */
export interface OnnxOutline {
  /** Version of the ONNX file format. */
  readonly irVersion: number;
  /** Name of the program that wrote the file; "" if it is not stated. */
  readonly producer: string;
  readonly producerVersion: string;
  /** Versions of the operator sets, by domain; the standard one is "ai.onnx". */
  readonly opsets: ReadonlyMap<string, number>;
  /** `metadata_props`: free-form pairs. Some programs store whole dictionaries there; the first 16 KiB are read. */
  readonly metadata: ReadonlyMap<string, TextStart>;
  readonly functions: readonly OnnxFunctionOutline[];
  readonly graph: OnnxGraphOutline;
}

/**
 * Reads the outline of the ONNX file at `path`; `displayName` is the path as the user wrote it. Throws MODEL_INVALID if the file cannot be read, is cut off or
 * damaged, or is not an ONNX file, and MODEL_UNSUPPORTED if its header is larger than the limits of `FileWindow`.
 */
export async function readOnnxOutline(path: string, displayName: string): Promise<OnnxOutline> {
  return await withFileWindow(path, displayName, "ONNX", readOutline);
}

function* readOutline(window: FileWindow): Reading<OnnxOutline> {
  const model = yield* readOnnxMessages(window);
  const opsets = toOpsets(model.opsets);
  const metadata = new Map<string, TextStart>();
  for (const { key, value } of model.metadata) {
    const { start, length } = getLastRange(value) ?? { start: 0, length: 0 };
    metadata.set(key, { value: yield* window.readText(start, Math.min(length, maxMetadataBytes)), bytes: length });
  }
  const constants: OnnxTensorOutline[] = [];
  const functions = model.functions.map(({ domain, name, nodes, opsets: own }): OnnxFunctionOutline => {
    const body = new GraphContent();
    body.addNodes(nodes);
    constants.push(...body.constants);
    return { domain: domain || "ai.onnx", name, operators: body.operators, opsets: own.length > 0 ? toOpsets(own) : opsets };
  });
  return {
    irVersion: model.irVersion,
    producer: model.producerName,
    producerVersion: model.producerVersion,
    opsets,
    metadata,
    functions,
    graph: new GraphContent().outline(model.graph, constants),
  };
}

/** Bytes of a value of the metadata that are read. */
const maxMetadataBytes = 16 * 1024;

function toOpsets(opsets: readonly OnnxMessage<"opset">[]): ReadonlyMap<string, number> {
  return new Map(opsets.map(({ domain, version }) => [domain || "ai.onnx", version]));
}
