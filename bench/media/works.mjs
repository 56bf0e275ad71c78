// What is measured: models, files and their amount.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import sharp from "sharp";
import { createRandom } from "../measuring/random.mjs";
import { sharedPath } from "../measuring/shared-data.mjs";

// Photographs as cameras of 0.3 megapixels take them: smooth, with noise.
async function makePictures(count) {
  const random = createRandom(5);
  const [width, height] = [640, 480];
  const pictures = [];
  for (let index = 0; index < count; index += 1) {
    const data = new Uint8Array(width * height * 3);
    const phase = random() * 6;
    for (let at = 0; at < data.length; at += 1)
      data[at] = 128 + 90 * Math.sin(phase + at / 3 / 40 + (at % 3)) + 20 * (random() - 0.5);
    pictures.push(
      new Uint8Array(
        await sharp(data, { raw: { width, height, channels: 3 } })
          .jpeg({ quality: 85 })
          .toBuffer(),
      ),
    );
  }
  return pictures;
}

// The seconds of a WAVE file of 16-bit PCM.
function secondsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (bytes.length - 44) / view.getUint32(28, true);
}

export async function makeWorks({ models, python }, quick) {
  const works = [];
  /** @type {string[]} */
  const missing = [];
  const pictures = await makePictures(quick ? 16 : 64);
  const add = (work, needed) => {
    const absent = needed.find((path) => path === undefined || !existsSync(path));
    if (needed.length > 0 && absent !== undefined) return missing.push(`${work.name}: ${absent ?? "no --models or --python"}`);
    if (needed.includes(undefined)) return missing.push(`${work.name}: no --models or --python`);
    return works.push(work);
  };
  const below = (...parts) => (models === undefined ? undefined : resolve(models, ...parts));
  const classification = { task: "classify", unit: "pictures", files: pictures, amount: pictures.length };
  const vit = sharedPath("tiny-random-vit");
  add({ ...classification, name: "tiny ViT", model: vit, contenders: ["inferyard", "transformers"] }, [vit]);
  const ocr = sharedPath("ocr-pages");
  const names = readdirSync(ocr)
    .filter((name) => name.endsWith(".png"))
    .slice(0, quick ? 2 : 11);
  const pages = names.map((name) => new Uint8Array(readFileSync(join(ocr, name))));
  const reader = below("rapidocr", "models");
  add(
    {
      name: "PP-OCRv6",
      task: "read",
      unit: "pages",
      model: reader,
      files: pages,
      amount: pages.length,
      python,
      contenders: ["inferyard", "python"],
    },
    [reader, python],
  );
  const whisper = sharedPath("tiny-random-whisper");
  const chirp = new Uint8Array(readFileSync(join(whisper, "chirp-2s.wav")));
  const transcription = { task: "transcribe", unit: "seconds" };
  works.push({
    ...transcription,
    name: "tiny Whisper",
    model: whisper,
    files: [chirp, chirp, chirp, chirp],
    amount: 4 * secondsOf(chirp),
    contenders: ["inferyard", "transformers"],
  });
  const base = below("whisper-base");
  const beckett = below("sounds", "beckett.wav");
  const sound = beckett !== undefined && existsSync(beckett) ? new Uint8Array(readFileSync(beckett)) : undefined;
  add(
    {
      ...transcription,
      name: "Whisper base",
      model: base,
      files: [sound],
      amount: sound && secondsOf(sound),
      python,
      contenders: ["inferyard", "python"],
    },
    [base, beckett, python],
  );
  return { works, missing };
}
