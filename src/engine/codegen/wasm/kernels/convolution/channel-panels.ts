/**
 * The layout of weights for convolutions in machine code: for each group panels of 16 output channels, one after the other, each [input channels * taps, 16]. The last
 * panel of a group is padded with zeros. Weights are packed once, when a model is loaded.
 */

/** Output channels of a panel. */
export const panelChannels = 16;

/** Sizes of weights [groups * outputs, depth]. */
export interface ChannelPanelShape {
  readonly groups: number;
  /** Output channels of a group. */
  readonly outputs: number;
  /** Input channels of a group times taps of the window. */
  readonly depth: number;
}

/** Number of elements of packed weights. */
export function channelPanelsLength({ groups, outputs, depth }: ChannelPanelShape): number {
  return groups * Math.ceil(outputs / panelChannels) * panelChannels * depth;
}

/** Packs weights [groups * outputs, depth], row-major, into `packed`, which must have `channelPanelsLength` elements. */
export function packChannelPanels(packed: Float32Array, weights: Float32Array, shape: ChannelPanelShape): void {
  if (shape.outputs % panelChannels > 0) packed.fill(0);
  forChannels(shape, (row, place) => copyStrided(packed, place, panelChannels, weights, row, 1, shape.depth));
}

/** Unpacks weights packed by `packChannelPanels` and returns them as [groups * outputs, depth], row-major. */
export function unpackChannelPanels(packed: Float32Array, shape: ChannelPanelShape): Float32Array {
  const weights = new Float32Array(shape.groups * shape.outputs * shape.depth);
  forChannels(shape, (row, place) => copyStrided(weights, row, 1, packed, place, panelChannels, shape.depth));
  return weights;
}

/** Calls `visit` with the index of each channel's first weight, and with its index in the panels. */
function forChannels({ groups, outputs, depth }: ChannelPanelShape, visit: (row: number, place: number) => void): void {
  const groupLength = Math.ceil(outputs / panelChannels) * panelChannels * depth;
  for (let channel = 0; channel < groups * outputs; channel += 1) {
    const inGroup = channel % outputs;
    const lane = inGroup % panelChannels;
    visit(channel * depth, Math.floor(channel / outputs) * groupLength + (inGroup - lane) * depth + lane);
  }
}

/** Copies `count` elements; strides are in elements. A function of its own, which is optimized after the first channels. */
function copyStrided(
  to: Float32Array,
  toStart: number,
  toStride: number,
  from: Float32Array,
  fromStart: number,
  fromStride: number,
  count: number,
): void {
  for (let index = 0; index < count; index += 1) to[toStart + index * toStride] = from[fromStart + index * fromStride] as number;
}
