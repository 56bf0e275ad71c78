/** The lists with which a user hides devices from an engine: CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES. */

/** How to find a device that the list names. */
export interface DeviceLookup<T> {
  readonly byNumber: (number: number) => T | undefined;
  /** A UUID may be shortened as long as it stays unique. */
  readonly byUuid: (start: string) => T | undefined;
}

/**
 * The devices a list leaves visible, in its order, which is the engine's numbering. As the CUDA driver reads it: the first entry
 * that names no device ends the list (so "-1" hides all), digits count up to the first other character, and a device named
 * twice hides all. Source: CUDA C++ programming guide, "CUDA environment variables"; PyTorch's torch/cuda reads it the same way.
 */
export function visibleDevices<T>(list: string, lookup: DeviceLookup<T>): readonly T[] {
  const visible: T[] = [];
  for (const entry of list.split(",")) {
    const text = entry.trim();
    const digits = /^\+?(\d+)/.exec(text)?.[1];
    const device =
      digits !== undefined ? lookup.byNumber(Number(digits)) : /^\w+-\w/.test(text) ? lookup.byUuid(text) : undefined;
    if (device === undefined) break;
    if (visible.includes(device)) return [];
    visible.push(device);
  }
  return visible;
}

/** The only candidate whose UUID starts so; undefined when there is none or more than one. */
export function byUniqueUuid<T extends { readonly uuid?: string | undefined }>(
  candidates: readonly T[],
  start: string,
): T | undefined {
  const matches = candidates.filter(({ uuid }) => uuid?.toLowerCase().startsWith(start.toLowerCase()));
  return matches.length === 1 ? matches[0] : undefined;
}
