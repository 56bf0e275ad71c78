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
export function packChannelPanels(packed: Float32Array, weights: ArrayLike<number>, shape: ChannelPanelShape): void {
  const { groups, outputs, depth } = shape;
  let place = 0;
  for (let group = 0; group < groups; group += 1)
    for (let first = 0; first < outputs; first += panelChannels)
      for (let row = 0; row < depth; row += 1)
        for (let channel = first; channel < first + panelChannels; channel += 1, place += 1)
          packed[place] = channel < outputs ? (weights[(group * outputs + channel) * depth + row] as number) : 0;
}

/** Unpacks weights packed by `packChannelPanels` and returns them as [groups * outputs, depth], row-major. */
export function unpackChannelPanels(packed: Float32Array, { groups, outputs, depth }: ChannelPanelShape): Float32Array {
  const weights = new Float32Array(groups * outputs * depth);
  const groupLength = Math.ceil(outputs / panelChannels) * panelChannels * depth;
  for (let channel = 0; channel < groups * outputs; channel += 1) {
    const [group, inGroup] = [Math.floor(channel / outputs), channel % outputs];
    const from = group * groupLength + Math.floor(inGroup / panelChannels) * panelChannels * depth + (inGroup % panelChannels);
    for (let row = 0; row < depth; row += 1) weights[channel * depth + row] = packed[from + row * panelChannels] as number;
  }
  return weights;
}
