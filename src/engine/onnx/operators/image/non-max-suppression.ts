/** Selection of boxes in object detection: https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, toNumbers } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/**
 * ONNX NonMaxSuppression: of boxes [batches, N, 4] with scores [batches, classes, N] those that overlap no better one of their class by more than
 * `iou_threshold`. Returns int64 rows [batch, class, box], best first.
 */
function nonMaxSuppression(call: OperatorCall): Value {
  const [boxes, scores] = [call.knownData(0), call.knownData(1)];
  const maxBoxes = call.knownIntegersIfGiven(2)?.[0] ?? 0;
  const overlap = call.inputIfGiven(3) === undefined ? 0 : (toNumbers(call.known(3))[0] ?? 0);
  const minScore = call.inputIfGiven(4) === undefined ? Number.NEGATIVE_INFINITY : (toNumbers(call.known(4))[0] ?? 0);
  const centred = call.int("center_point_box", 0) === 1;
  const [batches = 0, classes = 0, count = 0] = scores.shape;
  if (boxes.shape.join() !== [batches, count, 4].join() || scores.shape.length !== 3)
    throw new Error(`boxes of shape [${boxes.shape.join(", ")}] do not fit scores of shape [${scores.shape.join(", ")}]`);
  const [corners, values] = [sortedCorners(toNumbers(boxes), centred), toNumbers(scores)];
  const rows: number[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    for (let group = 0; group < classes; group += 1) {
      const start = (batch * classes + group) * count;
      const score = (box: number): number => at(values, start + box);
      const order: number[] = [];
      for (let box = 0; box < count; box += 1) if (score(box) > minScore) order.push(box);
      order.sort((one, other) => score(other) - score(one) || one - other);
      const kept: number[] = [];
      for (const box of order) {
        if (kept.length >= maxBoxes) break;
        const own = 4 * (batch * count + box);
        if (kept.every((other) => intersectionOverUnion(corners, own, 4 * (batch * count + other)) <= overlap)) kept.push(box);
      }
      for (const box of kept) rows.push(batch, group, box);
    }
  }
  return call.builder.constant(int64Literal(rows, [rows.length / 3, 3]));
}

/** Top, left, bottom and right of every box, given as two corners [y1, x1, y2, x2] in any order or as [x centre, y centre, width, height]. */
function sortedCorners(values: ArrayLike<number>, centred: boolean): Float64Array {
  const corners = new Float64Array(values.length);
  for (let box = 0; box < values.length; box += 4) {
    const [a, b, c, d] = [at(values, box), at(values, box + 1), at(values, box + 2), at(values, box + 3)];
    corners[box] = centred ? b - d / 2 : Math.min(a, c);
    corners[box + 1] = centred ? a - c / 2 : Math.min(b, d);
    corners[box + 2] = centred ? b + d / 2 : Math.max(a, c);
    corners[box + 3] = centred ? a + c / 2 : Math.max(b, d);
  }
  return corners;
}

/** Intersection over union of two boxes, given by the offsets of their coordinates. */
function intersectionOverUnion(corners: Float64Array, one: number, other: number): number {
  const height = Math.min(at(corners, one + 2), at(corners, other + 2)) - Math.max(at(corners, one), at(corners, other));
  const width = Math.min(at(corners, one + 3), at(corners, other + 3)) - Math.max(at(corners, one + 1), at(corners, other + 1));
  if (height <= 0 || width <= 0) return 0;
  const shared = height * width;
  return shared / (getArea(corners, one) + getArea(corners, other) - shared);
}

function getArea(corners: Float64Array, box: number): number {
  return (at(corners, box + 2) - at(corners, box)) * (at(corners, box + 3) - at(corners, box + 1));
}

/**
 * Translates the ONNX operator NonMaxSuppression. The shape of its result depends on data, so it runs between two graph segments unless its inputs
 * are constant.
 */
export const boxSelection: OperatorFamily = {
  NonMaxSuppression: since(10, nonMaxSuppression),
};
