/**
 * The labels whose files are no text, as Magika's knowledge base says (assets/content_types_kb.min.json of github.com/google/magika,
 * Apache-2.0, `is_text`); every other label of the model is text.
 */
export const binaryLabels: ReadonlySet<string> = new Set(
  `3gp ace ai apk applebplist bmp bzip cab cat chm coff crt crx deb dex dicom dmg doc docx dsstore dwg elf emf epub flac flv gif gzip h5
   hlp icns ico iso jar javabytecode jp2 jpeg lha lnk macho midi mkv mp3 mp4 mscompress msi npy npz nupkg odp ods odt ogg one onnx otf
   outlook parquet pcap pdb pdf pebin pickle png postscript ppt pptx psd pythonbytecode pytorch qt randombytes rar rpm sevenzip snap
   sqlite squashfs stlbinary swf tar tga thumbsdb tiff torrent ttf unknown wasm wav webm webp wmf woff woff2 xar xls xlsb xlsx xpi xz
   zip zlibstream`.split(/\s+/),
);
