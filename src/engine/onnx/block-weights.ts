/**
 * Keeps the weights of MatMulNBits (com.microsoft) quantized. Their blocks become one constant that block kernels multiply as it lies; without this pass they are
 * unpacked to float32 when a graph is traced.
 */
import {
  scaledBlockHeader,
  scaledBlockName,
  scaledBlocks,
  type ScaledBlockShape,
} from "../../formats/scaled-blocks/block-formats.ts";
import { elementCount } from "../../contract/tensor.ts";
import { isFloat } from "../ir/element-types.ts";
import { LazyStorage, transposedValues } from "../ir/lazy-storage.ts";
import { type Literal, literalWithStorage, toNumbers } from "../ir/literal.ts";
import type { OnnxAttribute, OnnxGraph, OnnxNode } from "./onnx-model.ts";
import { namesUsed } from "./used-names.ts";

/** Elements of the activations that share a scale: the rows of the constant are padded to a multiple of it. */
const activationGroup = 32;

/** Constants of one node: packed codes, scales, and zero points if there are any. */
interface BlockWeights {
  readonly codes: Literal;
  readonly scales: Literal;
  readonly zeros: Literal | undefined;
  readonly shape: ScaledBlockShape;
  /** Rows of the stored matrix: N. */
  readonly rows: number;
  /** Blocks of a row. */
  readonly blocks: number;
}

/**
 * The graph with MatMulNBits nodes whose weights are initializers reading one constant [K, N] in place of the codes, scales and zero points. K is padded to whole
 * blocks and to a multiple of 32. Initializers that no node reads any more are left out. Nodes in subgraphs are included, nodes of functions are not.
 */
export function withBlockWeights(graph: OnnxGraph): OnnxGraph {
  const constants = new Map<string, Literal>();
  const declared = new Set(graph.inputs.map(({ name }) => name));
  const initializer = (name: string): Literal | undefined => (declared.has(name) ? undefined : graph.initializers.get(name));
  const replaced = new Set<string>();

  const rewritten = (node: OnnxNode): OnnxNode => {
    const attributes = new Map<string, OnnxAttribute>();
    for (const [name, attribute] of node.attributes) attributes.set(name, inner(attribute));
    const own = { ...node, attributes };
    if (node.operator !== "MatMulNBits" || node.domain !== "com.microsoft") return own;
    const [a = "", codes = "", scales = "", zeros = "", groups = "", bias = ""] = node.inputs;
    const weights = groups === "" ? blockWeights(node, initializer(codes), initializer(scales), zeros, initializer) : undefined;
    if (weights === undefined) return own;
    const name = [codes, scales, zeros, scaledBlockName(weights.shape), weights.rows].join(" ");
    if (!constants.has(name)) constants.set(name, blockLiteral(weights));
    for (const each of [codes, scales, zeros]) replaced.add(each);
    return { ...own, inputs: [a, name, "", "", "", bias] };
  };
  const inner = (attribute: OnnxAttribute): OnnxAttribute => {
    if (attribute.kind === "graph") return { ...attribute, value: withNodes(attribute.value) };
    return attribute.kind === "graphs" ? { ...attribute, value: attribute.value.map(withNodes) } : attribute;
  };
  const withNodes = (each: OnnxGraph): OnnxGraph => ({ ...each, nodes: each.nodes.map(rewritten) });

  const nodes = graph.nodes.map(rewritten);
  if (constants.size === 0) return graph;
  const used = new Set([...namesUsed(nodes), ...graph.outputs.map(({ name }) => name)]);
  const kept = [...graph.initializers].filter(([name]) => used.has(name) || !replaced.has(name));
  return { ...graph, nodes, initializers: new Map([...kept, ...constants]) };
}

/** The weights of a node, if they are constants of a supported form. */
function blockWeights(
  { attributes }: OnnxNode,
  codes: Literal | undefined,
  scales: Literal | undefined,
  zeroName: string,
  initializer: (name: string) => Literal | undefined,
): BlockWeights | undefined {
  const integer = (name: string, otherwise: number): number => {
    const attribute = attributes.get(name);
    return attribute?.kind === "int" ? attribute.value : otherwise;
  };
  const [depth, rows, bits, elements] = [integer("K", 0), integer("N", 0), integer("bits", 4), integer("block_size", 32)];
  const zeros = zeroName === "" ? undefined : initializer(zeroName);
  if (codes === undefined || scales === undefined || (zeroName !== "" && zeros === undefined)) return undefined;
  if (bits !== 2 && bits !== 4 && bits !== 8) return undefined;
  if (depth < 1 || rows < 1 || (elements !== 16 && !(elements > 0 && elements % activationGroup === 0))) return undefined;
  const blocks = Math.ceil(depth / elements);
  const isWhole =
    codes.dataType === "uint8" &&
    elementCount(codes.shape) === (rows * blocks * elements * bits) / 8 &&
    isFloat(scales.dataType) &&
    elementCount(scales.shape) === rows * blocks;
  if (!isWhole) return undefined; // the translation of the operator says what is wrong
  if (zeros !== undefined) {
    const count = isFloat(zeros.dataType) ? rows * blocks : rows * Math.ceil((blocks * bits) / 8);
    if ((zeros.dataType !== "uint8" && !isFloat(zeros.dataType)) || elementCount(zeros.shape) !== count) return undefined;
  }
  return { codes, scales, zeros, shape: { bits, elements, hasMins: zeros !== undefined }, rows, blocks };
}

/** The constant [K, N], whose blocks are put together when they are read. */
function blockLiteral(weights: BlockWeights): Literal {
  const { shape, rows, blocks } = weights;
  const columns = Math.ceil((blocks * shape.elements) / activationGroup) * activationGroup;
  const format = scaledBlocks(shape);
  const read = (): Uint8Array => storedBlocks(weights, columns / shape.elements);
  const materialize = (): Float32Array => transposedValues(format, read(), rows, columns);
  const storage = new LazyStorage(
    undefined,
    { materialize, inFile: true },
    { format, type: scaledBlockName(shape), rows, columns, read },
  );
  return literalWithStorage(storage, "float32", [columns, rows]);
}

/** The blocks of all rows, each with `blocksOfRow` blocks. Those after the stored ones are 0. */
function storedBlocks({ codes, scales, zeros, shape, rows, blocks }: BlockWeights, blocksOfRow: number): Uint8Array {
  const header = scaledBlockHeader(shape);
  const codeBytes = (shape.elements * shape.bits) / 8;
  const blockBytes = header + codeBytes;
  const bytes = new Uint8Array(rows * blocksOfRow * blockBytes);
  const view = new DataView(bytes.buffer);
  const stored = codes.data as Uint8Array;
  const factors = toNumbers(scales);
  const zeroOf = zeroPoints(zeros, shape.bits, blocks);
  for (let row = 0; row < rows; row += 1) {
    for (let block = 0; block < blocks; block += 1) {
      const from = row * blocks + block;
      const to = (row * blocksOfRow + block) * blockBytes;
      const scale = factors[from] ?? 0;
      view.setFloat32(to, scale, true);
      if (shape.hasMins) view.setFloat32(to + 4, scale * zeroOf(row, block), true);
      bytes.set(stored.subarray(from * codeBytes, (from + 1) * codeBytes), to + header);
    }
  }
  return bytes;
}

/** Zero points of codes that lie around 0, by row and block: one for each block in floats, or packed like the codes with each row in whole bytes. */
function zeroPoints(zeros: Literal | undefined, bits: number, blocks: number): (row: number, block: number) => number {
  if (zeros === undefined) return () => 0;
  const values = toNumbers(zeros);
  const middle = 2 ** (bits - 1);
  if (isFloat(zeros.dataType)) return (row, block) => (values[row * blocks + block] ?? 0) - middle;
  const rowBytes = Math.ceil((blocks * bits) / 8);
  return (row, block) => {
    const byte = values[row * rowBytes + Math.floor((block * bits) / 8)] ?? 0;
    return ((byte >> ((block * bits) % 8)) & (2 ** bits - 1)) - middle;
  };
}
