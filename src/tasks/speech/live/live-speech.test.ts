import { describe, expect, it } from "vitest";
import { createLogMel, limitDynamicRange, maximumLogEnergy } from "../../../processors/audio/log-mel.ts";
import type { SileroStream } from "../voice-activity/silero.ts";
import { getSegmentRules } from "../voice-activity/voice-activity-options.ts";
import { LiveSpeech } from "./live-speech.ts";
import { ChunkReader } from "./sound-chunks.ts";
import { TrackedSpeech, WholeSound } from "./speech-tracker.ts";

const rate = 16_000;
const rules = getSegmentRules({ minSpeechMs: 0, minSilenceMs: 1000, speechPadMs: 100 });

/** Calls a window speech if it begins with a sample other than 0. */
function loudness(): SileroStream {
  let pending = new Float32Array();
  return {
    push: async (samples) => {
      const all = Float32Array.from([...pending, ...samples]);
      const count = Math.floor(all.length / 512);
      pending = all.slice(count * 512);
      return Float32Array.from({ length: count }, (_, index) => (all[index * 512] === 0 ? 0 : 1));
    },
    finish: async () => (pending.length === 0 ? new Float32Array() : Float32Array.of(pending[0] === 0 ? 0 : 1)),
  };
}

/** Speech (noise) and silence in turn, in seconds. */
function sound(...seconds: readonly number[]): Float32Array {
  let state = 1;
  return Float32Array.from(
    seconds.flatMap((length, index) =>
      Array.from({ length: Math.round(length * rate) }, () => {
        state = (state * 16_807) % 2_147_483_647;
        return index % 2 === 1 ? 0 : state / 2_147_483_647 + 0.01;
      }),
    ),
  );
}

function open(samples: Float32Array, hasVoiceActivity = true) {
  async function* chunks(): AsyncGenerator<Float32Array> {
    for (let at = 0; at < samples.length; at += 1000) yield samples.subarray(at, at + 1000);
  }
  const reader = new ChunkReader({ sampleRate: rate, chunks: chunks() }, rate, new AbortController().signal);
  const tracker = hasVoiceActivity ? new TrackedSpeech(loudness(), rules) : new WholeSound();
  return new LiveSpeech(reader, tracker, createLogMel({ mels: 80 }), { padding: "zeros", provisionalSeconds: undefined });
}

/** The windows that a decoder sees which reads each to its end. */
async function windows(samples: Float32Array, width = 500): Promise<(readonly [seek: number, frames: number])[]> {
  const speech = open(samples);
  const found: (readonly [number, number])[] = [];
  for (let seek = 0; ;) {
    const window = await speech.next(seek, width);
    if (window === undefined) return found;
    found.push([window.seek, window.frames]);
    seek = window.seek + window.frames;
  }
}

describe("windows of sound that comes in", () => {
  it("end at pauses, with some silence around speech", async () => {
    const found = await windows(sound(0, 1, 2, 1.5, 1, 3, 0.5));
    expect(found).toHaveLength(3);
    const expected = [
      [0.9, 3.1],
      [4.4, 5.6],
      [8.4, 9],
    ] as const;
    for (const [index, [start, end]] of expected.entries()) {
      const [seek, frames] = found[index]!;
      expect(Math.abs(seek / 100 - start)).toBeLessThan(0.05);
      expect(Math.abs((seek + frames) / 100 - end)).toBeLessThan(0.05);
    }
  });

  it("go on over shorter pauses, and are cut where they are full", async () => {
    expect(await windows(sound(4, 0.5, 7))).toEqual([
      [0, 500],
      [500, 500],
      [1000, 150],
    ]);
  });

  it("silence alone has none", async () => {
    expect(await windows(sound(0, 20))).toEqual([]);
    expect(await windows(new Float32Array())).toEqual([]);
  });

  it("have the features of the whole sound", async () => {
    const samples = sound(8);
    const speech = open(samples, false);
    const frontEnd = createLogMel({ mels: 80 });
    const all = frontEnd.logEnergies(samples, { first: 0, frames: 800, length: samples.length + 160 });
    limitDynamicRange(all, maximumLogEnergy(all));
    for (let seek = 0, window = await speech.next(0, 300); window !== undefined; window = await speech.next(seek, 300)) {
      const features = speech.read(window.seek, window.frames, 300);
      for (const mel of [0, 40, 79])
        for (let frame = 0; frame < window.frames; frame += 1)
          expect(features[mel * 300 + frame]).toBeCloseTo(all[mel * 800 + window.seek + frame]!, 5);
      seek = window.seek + 250;
    }
  });
});
