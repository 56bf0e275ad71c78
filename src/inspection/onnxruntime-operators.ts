/**
 * Operators that onnxruntime 1.30.0 supports, as measured with small models: scripts/generate/measure-onnx-operators.ts ran them on onnxruntime-node and
 * onnxruntime-web, wrote this file, and describes the method.
 */

export interface OperatorTable {
  /** A model with such a node was loaded by both libraries, in some data type and version. */
  readonly runs: ReadonlySet<string>;
  /** The libraries know the name, and none of the models tried with it was loaded by both. */
  readonly registered: ReadonlySet<string>;
}

/** Version of onnxruntime-node and onnxruntime-web that the tables were measured with. */
export const measuredVersion = "1.30.0";

/** Newest ONNX IR version (ModelProto.ir_version) that both libraries load. */
export const maxIrVersion = 13;

/** Newest version of an operator set that a model may name. */
export const maxOpsets: ReadonlyMap<string, number> = new Map([
  ["ai.onnx", 26],
  ["ai.onnx.ml", 5],
  ["com.microsoft", 1],
  ["ai.onnx.preview", 1],
  ["ai.onnx.preview.training", 1],
  ["ai.onnx.training", 1],
  ["com.microsoft.experimental", 1],
]);

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Supported operators by operator-set domain. The default domain has the name "ai.onnx". */
export const operatorTables: ReadonlyMap<string, OperatorTable> = new Map([
  [
    "ai.onnx",
    {
      runs: names(`
    Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization
    BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Cast CastLike Ceil Celu CenterCropPad
    Clip Col2Im Compress Concat Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh CumProd CumSum DFT
    DeformConv DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand
    EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater
    GreaterOrEqual GridSample GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If
    InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Loop
    LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxUnpool Mean MeanVarianceNormalization MelWeightMatrix
    MemcpyFromHost MemcpyToHost Min Mish Mod Mul Neg NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot
    Optional OptionalGetElement OptionalHasElement Or PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear
    RMSNormalization RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin
    ReduceProd ReduceSum ReduceSumSquare RegexFullMatch Relu Reshape Resize ReverseSequence RotaryEmbedding Round STFT
    Scan Scatter ScatterElements ScatterND Selu SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert
    SequenceLength SequenceMap Shape Shrink Sigmoid Sign SimplifiedLayerNormalization Sin Sinh Size Slice Softmax
    SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split SplitToSequence Sqrt Squeeze StringConcat
    StringNormalizer StringSplit Sub Sum Tan Tanh TensorScatter TfIdfVectorizer ThresholdedRelu Tile TopK Transpose
    Trilu Unique Unsqueeze Where Xor
      `),
      registered: names(`
    Bernoulli ConcatFromSequence DisentangledAttention_TRT EfficientNMS_TRT GlobalLpPool ImageDecoder MaxRoiPool
    MultilevelCropAndResize_TRT Multinomial PyramidROIAlign_TRT RandomNormal RandomNormalLike RandomUniform
    RandomUniformLike RoiAlign Swish Upsample
      `),
    },
  ],
  [
    "ai.onnx.ml",
    {
      runs: names(`
    ArrayFeatureExtractor Binarizer FeatureVectorizer Imputer LabelEncoder LinearClassifier LinearRegressor Normalizer
    SVMClassifier SVMRegressor Scaler TreeEnsemble
      `),
      registered: names(`
    CastMap CategoryMapper Constant DictVectorizer OneHotEncoder TreeEnsembleClassifier TreeEnsembleRegressor ZipMap
      `),
    },
  ],
  [
    "com.microsoft",
    {
      runs: names(`
    Attention AttnLSTM BiasGelu BifurcationDetector CDist CausalConvWithState ConvTransposeWithDynamicPads CropAndResize
    DecoderMaskedMultiHeadAttention DequantizeLinear DynamicQuantizeLSTM DynamicQuantizeMatMul DynamicTimeWarping
    EngramGate ExpandDims FastGelu FusedConv FusedGemm FusedMatMul GatedAdd GatedRMSNorm GatherBlockQuantized GatherND
    Gelu GridSample GroupQueryAttention Inverse LinearAttention LinearAttentionGate MRotaryEmbedding MatMulBnb4
    MatMulFpQ4 MatMulInteger16 MatMulIntegerToFloat MatMulNBits MaxpoolWithMask MoE MultiHeadAttention MurmurHash3
    NGramHashMapping NGramRepeatBlock NhwcMaxPool Pad QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool
    QLinearConcat QLinearConv QLinearGlobalAveragePool QLinearMul QLinearSoftmax QLinearWhere QMoE QuantizeLinear
    QuickGelu Range RotaryEmbedding SampleOp SkipLayerNormalization SkipSimplifiedLayerNormalization SparseAttention
    Tokenizer TransposeMatMul Trilu UnfoldTensor Unique WordConvEmbedding
      `),
      registered: names(`
    BeamSearch BiasAdd BiasDropout BiasSoftmax BiasSplitGelu BitmaskBiasDropout BitmaskDropout ComplexMul ComplexMulConj
    Constant DecoderAttention DecoderMaskedSelfAttention DequantizeBFP DequantizeWithOrder EPContext
    EmbedLayerNormalization FusedMatMulActivation GatedDeltaNet GatedRelativePositionBias GemmFastGelu GemmFloat8
    GemmaRotaryEmbedding GreedySearch GroupNorm Irfft IsAllFinite LongformerAttention MatMulBlockQuantizedFp4Weight
    MatMulBlockQuantizedFp8Weight MatMulNBitsMlp MatMulNBitsQkv MulInteger NhwcConv NhwcFusedConv PackedAttention
    PackedMultiHeadAttention PagedAttention QAttention QLinearLeakyRelu QLinearReduceMean QLinearSigmoid
    QOrderedAttention QOrderedGelu QOrderedLayerNormalization QOrderedLongformerAttention QOrderedMatMul QuantizeBFP
    QuantizeWithOrder ReduceSumInteger RelativePositionBias RemovePadding RestorePadding Rfft Sampling SkipGroupNorm
    Snpe SparseToDenseMatMul TorchEmbedding VarlenCausalConvWithState WhisperBeamSearch
      `),
    },
  ],
]);
