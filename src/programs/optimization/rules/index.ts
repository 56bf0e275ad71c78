/** The rewrite rules, in the order in which a search tries them. */
import type { RewriteRule } from "../rewrite-rule.ts";
import { contractionOrder, factorSum, mergeAdapter, mergeGemms, mergeProducts, separateProducts } from "./products.ts";
import {
  divideAfterAttention,
  foldNormIntoWeight,
  foldScaleIntoWeight,
  multiplyByReciprocal,
  scaleAfterProduct,
  scaleBeforeProduct,
} from "./scaling.ts";
import {
  einsumOrder,
  factorElementwise,
  mergeTransposes,
  shareSubexpressions,
  sumByProduct,
  transposeProduct,
} from "./structure.ts";

/** All rules. */
export const rewriteRules: readonly RewriteRule[] = [
  mergeAdapter,
  separateProducts,
  contractionOrder,
  einsumOrder,
  factorSum,
  mergeProducts,
  mergeGemms,
  foldScaleIntoWeight,
  foldNormIntoWeight,
  shareSubexpressions,
  scaleBeforeProduct,
  scaleAfterProduct,
  multiplyByReciprocal,
  divideAfterAttention,
  sumByProduct,
  mergeTransposes,
  transposeProduct,
  factorElementwise,
];
