/** Fuses the addition of a mask with the softmax after it. */
import { broadcastShape } from "../ir/broadcast.ts";
import { sameShape } from "../ir/tensor-type.ts";
import { eitherOrder } from "./patterns.ts";
import { type Pass, valuePass } from "./rewrite.ts";

/** Makes the addend of a softmax over the last axis its second input, if the addend broadcasts to the scores. Removes an `expand` of the mask. */
export const fuseSoftmax: Pass = valuePass(({ operation, inputs }, rewriter) => {
  const [x] = inputs;
  if (operation.kind !== "softmax" || x === undefined || inputs.length > 1 || !rewriter.hasOneUse(x)) return undefined;
  const { shape } = x.type;
  if (operation.axis !== shape.length - 1) return undefined; // kernels take a mask for the last axis only
  for (const [scores, mask] of eitherOrder(rewriter, x, "add")) {
    const source = rewriter.producerOfKind(mask, "expand")?.inputs[0] ?? mask;
    if (sameShape(scores.type.shape, shape) && sameShape(broadcastShape(source.type.shape, shape), shape))
      return rewriter.add(operation, scores, source);
  }
  return undefined;
});
