/**
 * The protobuf messages of an ONNX file, as https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3 defines them. Fields that no reader here uses are left out.
 * Lists of numbers, texts and bytes that may be large are ranges of the file, and are decoded by those who need them.
 */
import type { FileWindow, Reading } from "../file-window.ts";
import { type MessageOf, MessageReader } from "../protobuf/message-reader.ts";

/** The messages by name, each with the fields that are read. */
export const onnxMessages = {
  /** ModelProto: a whole file. */
  model: {
    irVersion: [1, "integer"],
    producerName: [2, "text"],
    producerVersion: [3, "text"],
    graph: [7, "message", "graph"],
    opsets: [8, "messages", "opset"],
    metadata: [14, "messages", "metadata"],
    functions: [25, "messages", "function"],
  },
  /** OperatorSetIdProto: an operator domain and the version of its operator set. */
  opset: { domain: [1, "text"], version: [2, "integer"] },
  /** StringStringEntryProto of the metadata, whose values may be long. */
  metadata: { key: [1, "text"], value: [2, "ranges"] },
  /** GraphProto: the nodes of a graph, its inputs, outputs and initializers. `valueInfo`: types of intermediate values. */
  graph: {
    nodes: [1, "messages", "node"],
    name: [2, "text"],
    initializers: [5, "messages", "tensor"],
    inputs: [11, "messages", "value"],
    outputs: [12, "messages", "value"],
    valueInfo: [13, "messages", "value"],
    sparseInitializers: [15, "messages", "sparseTensor"],
  },
  /** NodeProto: one use of an operator. */
  node: {
    inputs: [1, "texts"],
    outputs: [2, "texts"],
    name: [3, "text"],
    operator: [4, "text"],
    attributes: [5, "messages", "attribute"],
    domain: [7, "text"],
  },
  /** AttributeProto: one attribute of a node. Its field `type` selects the field with the value; files of the first versions lack it. */
  attribute: {
    name: [1, "text"],
    float: [2, "ranges"],
    int: [3, "integers"],
    text: [4, "ranges"],
    tensor: [5, "message", "tensor"],
    graph: [6, "message", "graph"],
    floats: [7, "ranges"],
    ints: [8, "ranges"],
    texts: [9, "ranges"],
    tensors: [10, "messages", "tensor"],
    graphs: [11, "messages", "graph"],
    valueType: [14, "message", "type"],
    type: [20, "integer"],
    reference: [21, "text"],
    sparseTensor: [22, "message", "sparseTensor"],
    sparseTensors: [23, "messages", "sparseTensor"],
  },
  /** TensorProto: a tensor with its elements, or with the location of its elements in another file. */
  tensor: {
    shape: [1, "integers"],
    dataType: [2, "integer"],
    floats: [4, "ranges"],
    int32s: [5, "ranges"],
    texts: [6, "ranges"],
    int64s: [7, "ranges"],
    name: [8, "text"],
    raw: [9, "ranges"],
    doubles: [10, "ranges"],
    uint64s: [11, "ranges"],
    external: [13, "messages", "entry"],
    location: [14, "integer"],
  },
  /** StringStringEntryProto: a key and a value. */
  entry: { key: [1, "text"], value: [2, "text"] },
  /** SparseTensorProto: `values` are the elements that are not zero. */
  sparseTensor: { values: [1, "message", "tensor"] },
  /** ValueInfoProto: the name and type of an input, an output or an intermediate value. */
  value: { name: [1, "text"], type: [2, "message", "type"] },
  /** TypeProto; exactly one field is set. */
  type: {
    tensor: [1, "message", "tensorType"],
    sequence: [4, "message", "elementType"],
    map: [5, "message", "mapType"],
    sparse: [8, "message", "tensorType"],
    optional: [9, "message", "elementType"],
  },
  /** TypeProto.Tensor and TypeProto.SparseTensor. */
  tensorType: { element: [1, "integer"], shape: [2, "message", "shape"] },
  /** TypeProto.Sequence and TypeProto.Optional. */
  elementType: { element: [1, "message", "type"] },
  /** TypeProto.Map. */
  mapType: { key: [1, "integer"], value: [2, "message", "type"] },
  /** TensorShapeProto. */
  shape: { dimensions: [1, "messages", "dimension"] },
  /** TensorShapeProto.Dimension: a fixed size, or the name of a free dimension. */
  dimension: { size: [1, "integers"], name: [2, "text"] },
  /** FunctionProto: a function that the file defines and that its graphs use like an operator. */
  function: {
    name: [1, "text"],
    inputs: [4, "texts"],
    outputs: [5, "texts"],
    nodes: [7, "messages", "node"],
    opsets: [9, "messages", "opset"],
    domain: [10, "text"],
    defaults: [11, "messages", "attribute"],
  },
} as const;

/** A message of an ONNX file. */
export type OnnxMessage<Name extends keyof typeof onnxMessages> = MessageOf<typeof onnxMessages, Name>;

/** The message of a whole ONNX file, which has a graph. */
export type OnnxModelMessage = OnnxMessage<"model"> & { readonly graph: OnnxMessage<"graph"> };

/** Reads the messages of an ONNX file. Throws Error if it is damaged, has no graph or lacks its end. */
export function* readOnnxMessages(window: FileWindow): Reading<OnnxModelMessage> {
  const model = yield* new MessageReader(window, onnxMessages).read("model");
  const { graph, opsets } = model;
  if (graph === undefined) throw new Error("it holds no graph");
  // They come last in the file: a file that was cut off between two fields lacks them.
  if (opsets.length === 0) throw new Error("it does not say which operators it uses, so its end is missing");
  return { ...model, graph };
}
