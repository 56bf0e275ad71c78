/**
 * Field numbers of the protobuf messages of an ONNX file, under the names of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3. Fields that
 * no reader here uses are left out.
 */

/** Field numbers of ModelProto, the message of a whole ONNX file (onnx.proto3). */
export const modelProto = {
  irVersion: 1,
  producerName: 2,
  producerVersion: 3,
  graph: 7,
  opsetImport: 8,
  metadataProps: 14,
  functions: 25,
} as const;

/** Field numbers of OperatorSetIdProto: an operator domain and the version of its operator set. */
export const operatorSetIdProto = { domain: 1, version: 2 } as const;

/** Field numbers of GraphProto: the nodes of a graph, its inputs, outputs and initializers. */
export const graphProto = {
  node: 1,
  name: 2,
  initializer: 5,
  input: 11,
  output: 12,
  valueInfo: 13,
  sparseInitializer: 15,
} as const;

/** Field numbers of NodeProto: one use of an operator. */
export const nodeProto = { input: 1, output: 2, name: 3, opType: 4, attribute: 5, domain: 7 } as const;

/** Field numbers of AttributeProto: one attribute of a node. Its field `type` selects the field with the value. */
export const attributeProto = {
  name: 1,
  f: 2,
  i: 3,
  s: 4,
  t: 5,
  g: 6,
  floats: 7,
  ints: 8,
  strings: 9,
  tensors: 10,
  graphs: 11,
  typeProto: 14,
  type: 20,
  refAttrName: 21,
  sparseTensor: 22,
  sparseTensors: 23,
} as const;

/** Field numbers of TensorProto: a tensor with its elements, or with the location of its elements in another file. */
export const tensorProto = {
  dims: 1,
  dataType: 2,
  floatData: 4,
  int32Data: 5,
  stringData: 6,
  int64Data: 7,
  name: 8,
  rawData: 9,
  doubleData: 10,
  uint64Data: 11,
  externalData: 13,
  dataLocation: 14,
} as const;

/** Field numbers of SparseTensorProto: `values` is a TensorProto with the elements that are not zero. */
export const sparseTensorProto = { values: 1 } as const;

/** Field numbers of StringStringEntryProto: a key and a value. */
export const stringStringEntryProto = { key: 1, value: 2 } as const;

/** Field numbers of ValueInfoProto: the name and type of an input, an output or an intermediate value. */
export const valueInfoProto = { name: 1, type: 2 } as const;

/** Field numbers of TypeProto; exactly one field is set. */
export const typeProto = { tensorType: 1, sequenceType: 4, mapType: 5, sparseTensorType: 8, optionalType: 9 } as const;

/** Field numbers of TypeProto.Tensor and TypeProto.SparseTensor. */
export const tensorTypeProto = { elemType: 1, shape: 2 } as const;

/** Field numbers of TypeProto.Sequence and TypeProto.Optional. */
export const elementTypeProto = { elemType: 1 } as const;

/** Field numbers of the message TypeProto.Map. */
export const mapTypeProto = { keyType: 1, valueType: 2 } as const;

/** Field numbers of the message TensorShapeProto. */
export const tensorShapeProto = { dim: 1 } as const;

/** Field numbers of TensorShapeProto.Dimension: a fixed size, or the name of a free dimension. */
export const dimensionProto = { dimValue: 1, dimParam: 2 } as const;

/** Field numbers of FunctionProto: a function that an ONNX file defines and that its graphs use like an operator. */
export const functionProto = {
  name: 1,
  input: 4,
  output: 5,
  node: 7,
  opsetImport: 9,
  domain: 10,
  attributeProto: 11,
} as const;
