/** Adapters that change the weights of a model. */

/** A low-rank adapter (LoRA, Hu et al. 2021, arXiv:2106.09685) in a file of its own. */
export interface LoraAdapter {
  /** Path of the file; a relative one is relative to the current folder. */
  readonly path: string;
  /** Factor of its change of the weights. Default: 1. */
  readonly scale?: number;
}
