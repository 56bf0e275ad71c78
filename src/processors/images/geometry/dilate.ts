/** Dilation of masks. */

/**
 * Dilates a mask by a square of two by two pixels whose anchor is its lower right: a pixel is set if it, its left, its upper or its upper left neighbour is.
 * This is `cv2.dilate(mask, ones((2, 2)))`. Values are 0 and 1.
 */
export function dilateByTwo(mask: Uint8Array, width: number, height: number): Uint8Array {
  const dilated = new Uint8Array(mask.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const left = x > 0 ? (mask[at - 1] ?? 0) | (y > 0 ? (mask[at - width - 1] ?? 0) : 0) : 0;
      const above = y > 0 ? (mask[at - width] ?? 0) : 0;
      dilated[at] = (mask[at] ?? 0) | left | above;
    }
  }
  return dilated;
}
