/** Sounds: decoded within limits, whole and as one channel; what is accepted has channels of equal length. */
import { decodeMonoSound, decodeSound } from "../../../src/processors/audio/decode-sound.ts";
import { soundSeeds } from "../media-seeds.ts";
import { createMediaMutator } from "../mutations/mutate-media.ts";
import { type FuzzTarget, mustHold } from "../target.ts";

const limits = { maxBytes: 65_536, maxSeconds: 60 };
const sampleRate = 16_000;

export const sound: FuzzTarget = {
  codes: ["INPUT_INVALID", "LIMIT_EXCEEDED", "MEDIA_TYPE_UNSUPPORTED"],
  seeds: soundSeeds,
  mutate: createMediaMutator(soundSeeds()),
  dictionary: [
    "RIFF",
    "RF64",
    "WAVE",
    "fmt ",
    "data",
    "ds64",
    "LIST",
    "fLaC",
    "OggS",
    "OpusHead",
    "OpusTags",
    "\u0001vorbis",
    "ID3",
    "Xing",
    "Info",
  ],
  open: async () => ({
    async run(input) {
      const { samples, channels, sampleRate: rate } = await decodeSound(input, { limits });
      const lengths = samples.map(({ length }) => length);
      mustHold(lengths.length === channels && new Set(lengths).size === 1, () => `channels of ${lengths.join()} samples`);
      const [frames = 0] = lengths;
      mustHold(frames / rate <= limits.maxSeconds, () => `${frames} frames at ${rate} Hz are beyond the limit`);
      const mono = await decodeMonoSound(input, sampleRate, { limits });
      const expected = (frames * sampleRate) / rate;
      mustHold(Math.abs(mono.length - expected) <= 1, () => `${mono.length} samples of ${frames} at ${rate} Hz`);
    },
  }),
};
