/** A decoded picture. */

/** 8-bit samples of a picture in sRGB: rows from top to bottom, the channels of a pixel beside each other. */
export interface Picture {
  /** Pixels of a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** Samples of a pixel: grey; red, green, blue; or these with alpha. */
  readonly channels: 1 | 3 | 4;
  /** `width` x `height` x `channels` bytes. */
  readonly data: Uint8Array;
}
