/** Matrix products of com.microsoft with quantized operands: block-wise quantized weights of 2 to 8 bits, and 8-bit operands with scales. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { isFloat } from "../../../ir/element-types.ts";
import { toLiteral } from "../../../ir/literal.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened, widenedIfGiven } from "../precision.ts";
import { matmulOperator } from "../math/matrix-products.ts";
import {
  perRow,
  dequantize,
  dynamicQuantize,
  perColumn,
  quantizeOperator,
  integerMatmulOperator,
} from "../quantization/quantization.ts";
import { withoutZeroPoint, alignQuantization } from "../quantization/quantized-values.ts";

/** Unpacks integers of `bits` bits from bytes along the last axis, lowest bits first, to int32. */
function unpacked(call: OperatorCall, packed: Value, bits: number): Value {
  const bytes = call.cast(packed, "int32");
  if (bits === 8) return bytes;
  const { shape } = bytes.type;
  const each = 8 / bits;
  const shifts = call.builder.constant(
    toLiteral(
      "int32",
      [each],
      Float64Array.from({ length: each }, (_, at) => at * bits),
    ),
  );
  const moved = call.binary("shift-right", call.reshape(bytes, [...shape, 1]), shifts);
  const parts = call.binary("bitwise-and", moved, 2 ** bits - 1);
  return call.reshape(parts, [...shape.slice(0, -1), at(shape, shape.length - 1) * each]);
}

/**
 * MatMulNBits: A times weights [N, K], quantized in blocks of each row that have a scale and a zero point each. `withBlockWeights` replaces constant weights by a matrix
 * that stays quantized.
 */
function matmulBits(call: OperatorCall): Value {
  const a = widened(call, call.tensor(0));
  const [depth, columns] = [call.int("K", 0), call.int("N", 0)];
  const [bits, block] = [call.int("bits", 4), call.int("block_size", 32)];
  call.ignore("accuracy_level"); // permits lower precision, which is not used
  if (call.int("weight_prepacked", 0) !== 0) throw new Error("weight_prepacked is not supported");
  if (bits !== 2 && bits !== 4 && bits !== 8) throw new Error(`weights of ${bits} bits are not supported, only 2, 4 and 8`);
  if (call.tensorIfGiven(4) !== undefined) throw new Error("the input g_idx is not supported");
  const bias = widenedIfGiven(call, 5);
  const finished = (product: Value): Value =>
    call.cast(bias === undefined ? product : call.binary("add", product, bias), call.tensor(0).type.dataType);
  const width = at(a.type.shape, a.type.shape.length - 1);
  if (width !== depth) throw new Error(`A has rows of ${width} elements, and K is ${depth}`);
  const given = call.tensor(1);
  if (given.constant?.storage?.blocks !== undefined)
    return finished(matmulOperator(call, paddedRows(call, a, at(given.type.shape, 0)), given));
  const blocks = Math.ceil(depth / block);
  const whole = call.reshape(unpacked(call, call.tensor(1), bits), [columns, blocks, block]);
  const scales = call.reshape(widened(call, call.tensor(2)), [columns, blocks, 1]);
  const numbers = call.cast(whole, scales.type.dataType);
  const zero = zeroPoints(call, bits, columns, blocks);
  const moved = call.binary("sub", numbers, zero === undefined ? 2 ** (bits - 1) : call.cast(zero, scales.type.dataType));
  const weights = call.slice(call.reshape(call.binary("mul", moved, scales), [columns, blocks * block]), 1, 0, depth);
  const product = matmulOperator(call, a, call.transpose(weights, [1, 0]));
  return finished(product);
}

/** The tensor with zeros after its last axis, so that this has `size` elements. */
function paddedRows(call: OperatorCall, x: Value, size: number): Value {
  const { shape, dataType } = x.type;
  const missing = size - at(shape, shape.length - 1);
  if (missing === 0) return x;
  const before = shape.map(() => 0);
  return call.add(
    { kind: "pad", mode: "constant", before, after: before.with(shape.length - 1, missing) },
    x,
    call.scalar(0, dataType),
  );
}

/** Zero points [N, blocks, 1]: packed like the weights, each row in whole bytes, or unpacked in the type of the scales. */
function zeroPoints(call: OperatorCall, bits: number, columns: number, blocks: number): Value | undefined {
  const zeros = call.tensorIfGiven(3);
  if (zeros === undefined) return undefined;
  if (isFloat(zeros.type.dataType)) return call.reshape(zeros, [columns, blocks, 1]);
  const row = Math.ceil((blocks * bits) / 8);
  const all = unpacked(call, call.reshape(zeros, [columns, row]), bits);
  return call.reshape(call.slice(all, 1, 0, blocks), [columns, blocks, 1]);
}

/** GatherBlockQuantized: rows of a table that is quantized in blocks along an axis, dequantized. */
function gatherBlocks(call: OperatorCall): Value {
  const data = call.tensor(0);
  const indices = call.tensor(1);
  const rank = data.type.shape.length;
  const [gathered, blocked] = [
    normalizeAxis(call.int("gather_axis", 0), rank),
    normalizeAxis(call.int("quantize_axis", 1), rank),
  ];
  const [block, bits] = [call.int("block_size", 128), call.int("bits", 4)];
  if (gathered === blocked) throw new Error("quantize_axis equal to gather_axis is not supported");
  const bytes = data.type.dataType === "uint8";
  if (bytes && bits < 8 && blocked !== rank - 1) throw new Error("packed elements are only supported along the last axis");
  const rows = (table: Value): Value => {
    const read = call.add({ kind: "gather", axis: gathered }, table, indices);
    return bytes && table.type.dataType === "uint8" ? unpacked(call, read, bits) : call.cast(read, "int32");
  };
  const axis = gathered < blocked ? blocked - 1 + indices.type.shape.length : blocked;
  const whole = rows(data);
  const { shape } = whole.type;
  const scales = call.add({ kind: "gather", axis: gathered }, call.tensor(2), indices);
  const zeros = call.tensorIfGiven(3);
  const count = at(scales.type.shape, axis);
  const zero =
    zeros === undefined ? undefined : alignQuantization(call, call.slice(rows(zeros), axis, 0, count), shape, axis, block);
  const centre = bytes ? 2 ** (bits - 1) : 0;
  const moved = call.cast(call.binary("sub", whole, zero ?? centre), "float32");
  const wide = call.binary("mul", moved, alignQuantization(call, call.cast(scales, "float32"), shape, axis, block));
  return call.cast(wide, scales.type.dataType);
}

/** DynamicQuantizeMatMul. Inputs: A, which is quantized by its own range, weights, scale, zero point, optional bias. */
function dynamicMatmul(call: OperatorCall): Value {
  const [a, scale, zero] = dynamicQuantize(call, call.tensor(0));
  const left = call.binary("sub", call.cast(a, "int32"), call.cast(zero, "int32"));
  const sums = matmulOperator(call, left, withoutZeroPoint(call, 1, 3));
  return rescaled(call, sums, call.binary("mul", scale, perColumn(call, call.tensor(2))), 4);
}

/** MatMulIntegerToFloat. Inputs: A, B, scales of both, zero points of both, optional bias. */
function matmulToFloat(call: OperatorCall): Value {
  const sums = integerMatmulOperator(call, [0, 4, 1, 5]);
  const scale = call.binary("mul", perRow(call, widened(call, call.tensor(2))), perColumn(call, widened(call, call.tensor(3))));
  return call.cast(rescaled(call, sums, scale, 6), call.tensor(2).type.dataType);
}

/** Integer sums times a scale, plus the optional bias at `biasInput`. */
function rescaled(call: OperatorCall, sums: Value, scale: Value, biasInput: number): Value {
  const product = call.binary("mul", call.cast(sums, scale.type.dataType), scale);
  const bias = widenedIfGiven(call, biasInput);
  return bias === undefined ? product : call.binary("add", product, bias);
}

/** Translates quantized products and gathers of com.microsoft, such as MatMulNBits and DynamicQuantizeMatMul, to graph operations. */
export const contribQuantizedProducts: OperatorFamily = {
  "com.microsoft:MatMulNBits": since(1, matmulBits),
  "com.microsoft:GatherBlockQuantized": since(1, gatherBlocks),
  "com.microsoft:DynamicQuantizeMatMul": since(1, dynamicMatmul),
  "com.microsoft:MatMulIntegerToFloat": since(1, matmulToFloat),
  "com.microsoft:QuantizeLinear": since(1, quantizeOperator),
  "com.microsoft:DequantizeLinear": since(1, dequantize),
};
