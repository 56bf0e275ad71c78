/** Fuses the addition of a mask with the softmax after it. */
import { broadcastShape } from "../ir/broadcast.ts";
import { type Graph } from "../ir/graph.ts";
import { sameShape } from "../ir/tensor-type.ts";
import { eitherOrder } from "./patterns.ts";
import { rewrite } from "./rewrite.ts";

/** Makes the addend of a softmax over the last axis its second input, if the addend broadcasts to the scores. Removes an `expand` of the mask. */
export function fuseSoftmax(graph: Graph): Graph {
  return rewrite(graph, ({ operation, inputs }, rewriter) => {
    const [x] = inputs;
    if (operation.kind !== "softmax" || x === undefined || inputs.length > 1 || !rewriter.hasOneUse(x)) return undefined;
    if (operation.axis !== x.type.shape.length - 1) return undefined; // kernels take a mask for the last axis only
    for (const [scores, mask] of eitherOrder(rewriter, x, "add")) {
      const source = rewriter.producerOfKind(mask, "expand")?.inputs[0] ?? mask;
      if (
        !sameShape(scores.type.shape, x.type.shape) ||
        !sameShape(broadcastShape(source.type.shape, x.type.shape), x.type.shape)
      )
        continue;
      return [rewriter.add(operation, scores, source)];
    }
    return undefined;
  });
}
