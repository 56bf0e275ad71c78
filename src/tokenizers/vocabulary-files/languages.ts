/** Codes of languages that are tokens of mBART, in the order of their ids. */

/** The languages of mBART (Liu et al. 2020). */
export const mbartLanguages: readonly string[] =
  "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN".split(
    " ",
  );

/** The languages of mBART-50 (Tang et al. 2020). */
export const mbart50Languages: readonly string[] = [
  ...mbartLanguages,
  ..."af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI".split(
    " ",
  ),
];
