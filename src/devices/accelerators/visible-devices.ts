/** Environment variables that select visible devices: CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES. */

/** Finds the device that an entry of a variable such as CUDA_VISIBLE_DEVICES names. */
export interface DeviceLookup<T> {
  readonly byNumber: (number: number) => T | undefined;
  /** Finds a device by the beginning of its UUID, which must be unique. */
  readonly byUuid: (start: string) => T | undefined;
}

/**
 * The devices that a list makes visible, in its order, which is the engine's numbering. Parsed as the CUDA driver does: the
 * first entry that names no device ends the list (so "-1" hides all), digits are read up to the first other character, and
 * naming a device twice hides all. Source: CUDA C++ programming guide, "CUDA environment variables"; PyTorch's torch/cuda does
 * the same.
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

/** The only candidate whose UUID begins with `start`, ignoring case. Undefined if none or several do. */
export function byUniqueUuid<T extends { readonly uuid?: string | undefined }>(
  candidates: readonly T[],
  start: string,
): T | undefined {
  const matches = candidates.filter(({ uuid }) => uuid?.toLowerCase().startsWith(start.toLowerCase()));
  return matches.length === 1 ? matches[0] : undefined;
}
