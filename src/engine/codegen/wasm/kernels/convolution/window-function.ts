/** What machine code of depthwise convolution and pooling is generated from. */
import type { Activation } from "../../../../ir/operations.ts";
import type { ResolvedWindow } from "./window.ts";

/** A window over planes, and what is computed of the elements below it. */
export interface WindowFunction {
  readonly window: ResolvedWindow;
  /**
   * A sum of products with the weights of the channel, which begins with its bias; the maximum; or the sum times `share`. Weights of channel c of `channels` are at
   * c * taps.
   */
  readonly compute:
    | { readonly kind: "weights"; readonly channels: number; readonly bias: boolean; readonly activation: Activation }
    | { readonly kind: "max" }
    | { readonly kind: "sum"; readonly share: number };
}
