/** Splits the tokens of a window into segments at pairs of timestamps, and finds where the next window begins. */

/** Tokens with the seconds between which they were spoken. */
export interface TimedTokens {
  readonly start: number;
  readonly end: number;
  readonly tokens: readonly number[];
}

/** A window: frames of 10 ms. */
export interface WindowFrames {
  /** First frame. */
  readonly seek: number;
  /** Number of frames of sound. */
  readonly frames: number;
}

/** The segments of a window. */
export interface SplitWindow {
  readonly segments: readonly TimedTokens[];
  /** First frame of the next window. */
  readonly seek: number;
  /** Whether the window ends in one timestamp: nobody speaks between it and the window's end. */
  readonly endsInSilence: boolean;
}

export const framesPerSecond = 100;
/** Seconds between two timestamps. */
export const timestampSeconds = 0.02;
const framesPerTimestamp = 2;

/** Splits tokens. What follows the last pair of timestamps is not finished: the next window begins there. */
export function splitSegments(tokens: readonly number[], firstTimestamp: number, { seek, frames }: WindowFrames): SplitWindow {
  const isTimestamp = (token: number | undefined): boolean => token !== undefined && token >= firstTimestamp;
  const getSteps = (token: number | undefined): number => (token ?? firstTimestamp) - firstTimestamp;
  const offset = seek / framesPerSecond;
  const endsInSilence = tokens.length >= 2 && !isTimestamp(tokens.at(-2)) && isTimestamp(tokens.at(-1));
  const pairs = [...tokens.keys()].filter((index) => index > 0 && isTimestamp(tokens[index]) && isTimestamp(tokens[index - 1]));
  if (pairs.length === 0) {
    const last = tokens.findLast(isTimestamp);
    const duration = last === undefined || last === firstTimestamp ? frames / framesPerSecond : getSteps(last) * timestampSeconds;
    return { segments: [{ start: offset, end: offset + duration, tokens }], seek: seek + frames, endsInSilence };
  }
  const ends = endsInSilence ? [...pairs, tokens.length] : pairs;
  const segments = ends.map((end, index): TimedTokens => {
    const own = tokens.slice(ends[index - 1] ?? 0, end);
    return {
      start: offset + getSteps(own[0]) * timestampSeconds,
      end: offset + getSteps(own.at(-1)) * timestampSeconds,
      tokens: own,
    };
  });
  const next = endsInSilence ? seek + frames : seek + getSteps(tokens[(ends.at(-1) ?? 1) - 1]) * framesPerTimestamp;
  return { segments, seek: next, endsInSilence };
}
