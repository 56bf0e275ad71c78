/** What each flag of the commands that read pictures or sounds does: see flag-row.ts. No file of these rows is decoded. */
import { type CommandRows, type FlagRow, sets } from "./flag-row.ts";

type File = (name: string) => string;
type Flags = Readonly<Record<string, FlagRow>>;

const model = ["--model", "m"];
const otherModel = sets(["other"], { model: "other" });

/** Flags of how pictures are read. `on`: a command line with pictures. Default: that of the command. */
const picturesRead = (on?: readonly string[]): Flags => ({
  "--batch-size": sets(["3"], { batchSize: 3 }, on),
  "--background": sets(["none"], { background: "none" }, on),
});

/** The flags for pictures of a command that reads texts as well. */
export const pictureFlags: Readonly<Record<"classify" | "embed", (file: File) => Flags>> = {
  classify: (file) => ({
    "--image": {
      on: model,
      value: [file("first.png"), "--image", file("second.png")],
      arrives: { verb: "classifyImage", input: [[file("first.png"), file("second.png")]] },
    },
    ...picturesRead([...model, "--image", file("first.png")]),
  }),
  embed: (file) => ({
    "--image": {
      on: [...model, "--image", file("first.png"), "a text"],
      value: [file("second.png")],
      arrives: { input: [[{ image: file("first.png") }, { image: file("second.png") }, "a text"]] },
    },
    ...picturesRead([...model, "--image", file("first.png")]),
  }),
};

/** The flags of texts that hold for pictures as well, beside --image. */
export function besidePictures(file: File): Readonly<Record<"classify" | "embed", CommandRows>> {
  const on = [...model, "--image", file("first.png")];
  const both: Flags = { "--model": otherModel, "--variant": sets(["int8"], { variant: "int8" }) };
  return {
    classify: {
      on,
      flags: {
        ...both,
        "--top-k": sets(["1"], { topK: 1 }),
        "--labels": sets(["sports, politics", "--labels", "art"], { labels: ["sports", "politics", "art"] }),
        "--template": sets(["{} it is"], { hypothesisTemplate: "{} it is" }),
        "--activation": sets(["none"], { activation: "none" }),
      },
    },
    embed: {
      on,
      flags: {
        ...both,
        "--npy": { value: ["vectors.npy"], plain: true, writes: "vectors.npy" },
        "--normalize": sets([], { normalize: true }),
        "--no-normalize": sets([], { normalize: false }),
        "--dimensions": sets(["4"], { dimensions: 4 }),
      },
    },
  };
}

/** The rows of the commands that read pictures or sounds alone. */
export function mediaRows(file: File): Readonly<Record<string, CommandRows>> {
  const picture = [...model, file("first.png")];
  const sound = [...model, file("sound.wav")];
  return {
    read: {
      on: picture,
      flags: {
        "--model": otherModel,
        "--format": { value: ["hocr"], plain: true, shows: true, arrives: { request: { words: true } } },
        "--order": sets(["columns"], { order: "columns" }),
        "--min-score": sets(["0.9"], { minScore: 0.9 }),
        "--words": sets([], { words: true }),
        "--max-new-tokens": sets(["3"], { maxNewTokens: 3 }),
        "--prompt": sets(["<s_a>"], { prompt: "<s_a>" }),
      },
    },
    detect: {
      on: picture,
      flags: {
        ...picturesRead(),
        "--model": otherModel,
        "--threshold": sets(["0.9"], { threshold: 0.9 }),
        "--overlap": sets(["0.1"], { overlap: 0.1 }),
        "--top-k": sets(["1"], { topK: 1 }),
      },
    },
    "image-features": { on: picture, flags: { ...picturesRead(), "--model": otherModel, "--pool": sets([], { pool: true }) } },
    transcribe: {
      on: sound,
      flags: {
        "--model": otherModel,
        "--format": { value: ["srt"], plain: true, shows: true },
        "--temperature": sets(["0.2,0.4"], { temperature: [0.2, 0.4] }),
        "--language": sets(["de"], { language: "de" }),
        "--task": sets(["translate"], { task: "translate" }),
        "--timestamps": sets(["word"], { timestamps: "word" }),
        "--best-of": sets(["2"], { bestOf: 2 }),
        "--beams": sets(["7"], { beams: 7 }),
        "--compression-ratio-threshold": sets(["1.5"], { compressionRatioThreshold: 1.5 }),
        "--log-probability-threshold": sets(["-2"], { logProbabilityThreshold: -2 }),
        "--silence-threshold": sets(["0.3"], { noSpeechThreshold: 0.3 }),
        "--no-condition-on-previous-text": sets([], { conditionOnPreviousText: false }),
        "--prompt-reset-on-temperature": sets(["0.1"], { promptResetOnTemperature: 0.1 }),
        "--initial-prompt": sets(["Ada, Bob"], { initialPrompt: "Ada, Bob" }),
        "--padding": sets(["silence"], { padding: "silence" }),
        "--max-initial-timestamp": sets(["2.5"], { maxInitialTimestamp: 2.5 }),
        "--hallucination-silence-threshold": sets(["2"], { hallucinationSilenceThreshold: 2 }),
        "--max-new-tokens": sets(["3"], { maxNewTokens: 3 }),
        "--seed": sets(["2"], { seed: 2 }),
        "--vad-model": sets(["silero"], { vadModel: "silero" }),
        "--batch-size": sets(["4"], { batchSize: 4 }),
        "--no-vad": sets([], { vad: false }, [...sound, "--vad-model", "silero"]),
        "--live": { value: [], refused: /sound on stdin/ },
        "--sample-rate": { value: ["16000"], refused: /sound on stdin/ },
        "--pause-seconds": sets(["0.5"], { pauseSeconds: 0.5 }),
      },
    },
    "detect-speech": {
      on: sound,
      flags: {
        "--model": otherModel,
        "--threshold": sets(["0.7"], { threshold: 0.7 }),
        "--negative-threshold": sets(["0.2"], { negativeThreshold: 0.2 }),
        "--min-speech-ms": sets(["300"], { minSpeechMs: 300 }),
        "--max-speech-seconds": sets(["4.5"], { maxSpeechSeconds: 4.5 }),
        "--min-silence-ms": sets(["200"], { minSilenceMs: 200 }),
        "--speech-pad-ms": sets(["0"], { speechPadMs: 0 }),
        "--min-silence-at-cut-ms": sets(["50"], { minSilenceAtCutMs: 50 }),
        "--no-cut-at-longest-silence": sets([], { cutAtLongestSilence: false }),
      },
    },
    "classify-sound": {
      on: sound,
      flags: {
        "--model": otherModel,
        "--top-k": sets(["1"], { topK: 1 }),
        "--activation": sets(["sigmoid"], { activation: "sigmoid" }),
      },
    },
  };
}
