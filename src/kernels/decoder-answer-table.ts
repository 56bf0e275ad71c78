/** Made by scripts/generate/decoder-answers.ts from values of gguf-py 0.19.0; not to be edited. */

/** By type: blocks of 256 elements, in base64, and the digest of their values (see `digestOf`). */
export const decoderAnswerTable: Readonly<Record<string, { readonly blocks: string; readonly digest: number }>> = {
  Q4_0: {
    blocks:
      "WDNGNHSVh1BGi5llQb+bLEjI2TOXcxiJebZ2d1lYjHBVWImNALAAAAAAAAAAAAAAAAAAAAAAC7SHincF2YUanIhWh2mljGpoLTSZx1lwxkd4vFcor3vYd6aG1TMclotnp03W/KScbZ2XSaBs/DNHxHu01bSNmIiZVaw4YKeWcjOHmqnCrJZdVZaiebjgtbHJ",
    digest: 4065710921,
  },
  Q4_1: {
    blocks:
      "LTNYv0Y0hJWHUEaMqnVCv5ssSMi0Mtm/qYMZmovXh4hbaa6AVWmanwAAADwAAAAAAAAAAAAAAAAAAAAANTNuvWhkd/oEaeRRZphnhUlhlJZiNC3AmLZYcLZGd6xXKJ96x3emhtQz1b8clotnp03W/KScbZ2XSaBs9zL8v0jljdX11K65matmzUlwyKfIMnK/h6u60r2nblaXsnrJ8MbB2g==",
    digest: 2162021016,
  },
  Q5_0: {
    blocks:
      "WC+A+YiZfVj4Kf2QjAcz23NtJTiAgNkvGOchBC/mL/HjfOzukqAY0Jmg8foArAAAAAAAAAAAAAAAAAAAAAAAAAAAC7DS6bE1DfP+CbMKIxgBvB/CSwm0sC0whQ6T1CJ9oeB8ju9YvjBP5a/+XA3VL6Wu1ls5PAbdPYms6FgXuisdglDJ/C/EGvrLfon2eal4GTAPEqpXcMBOLXIvVow++/4lUoQ4PKqqHETSYLBbcnI=",
    digest: 2520279689,
  },
  Q5_1: {
    blocks:
      "8S5Yv4D5nJmNWAg6DqCdGETbc383OZGgfC7Zv53n+8xSFyMlFs8fEbbETQC7wzUvAAAAPAAAAAAAAAAAAAAAAAAAAAAAAAAA+i5uvSkSSMrA2e/0CcPZs8sxzhqD0igtPjAtwIUOk9QhfaHgfI3vWL4wP+Wv/VwNky/Vv6Wu1ls6TAfeToq8+VgoyzwuklDKvS78v8Vb/suB2xq6+7lOYyJGy5yD4IFfkC5yv1aMP/sfSHW0a17NvD519JLwjKKk",
    digest: 3342793843,
  },
  Q8_0: {
    blocks:
      "ZyPlvr3M7IHfNxXVmWorPf39uqn2EfvLwwMX5rktD5nEQukj9K/8ChTj4vIRAj+Byv0LTA7tj/nyNu/xys8F6crR/PoIIH9/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/EyQW5RA36S3ovvkcC/IqvOQC/gYIf6v+b/b8Kvoi3gMkJDUkDesKgd/t+UPzA3sq+e7h5xA50vQ7wO4p15od8FD3JwDlI0fdM+nrSuBCwDlRVekNgUaZFwDnG8BObyYJ2hMJxCXdBiTyyDLHyr5J/vgTzjoAgfPmuUP1N1E1CBT8CdMmt90hD4Ej7CcRnT7kTNLjow0AgdiQDfkOJTwbFtLNCSTpM1opNTo=",
    digest: 263299762,
  },
  TQ1_0: { blocks: "iRg0Nog3id2JNFLDxtyIpjQ1bI2HUDeLbG804msYOOK2Jd95e7On8UfUrOJ8Vkm5goy7xAA4", digest: 510589925 },
  TQ2_0: {
    blocks: "ZWBkpGWkZSZlZGhioiZlaWRkYaUlaKRlYaFkpiFgpKZZgWkEhEmlGlEZSmoVBRBZQWaUpWZgGRpYlEGlhoGqkQA4",
    digest: 510589925,
  },
  MXFP4: {
    blocks:
      "fev+ni2a3+wFMrzvVyT20GB9Ka7wkaNcrKrS0Ba/3dCRln1mZmZmZmZmZmZmZmZmZmZmfgEKEWPZA2qcADIBKaMMKiB+EUmxnkrJkDS50CaTUJk6Cn32PAW7O+Zsdk4Wxycb4k/GfeptlV59XhYwCRLdRuDPSit9miRCbzY71t0bT7FQf0xfUg==",
    digest: 4170399835,
  },
  Q2_K: {
    blocks: "gK9617ywlEr7mOfBdcc0P2xurGKwHoYlUCcVd9VSD5bIcS4fnqnscY7Zg+iL5KA4+dkQKtVHxrX6dlX2/F04fzI4mBKRcAAEfvGAMCMQewbZIQcf",
    digest: 2174684072,
  },
  Q3_K: {
    blocks:
      "LAM9LVi7/bEdLkrhMkFqC3l5bjhTVnmDEuPkA5DkabIL6uI7sODOtseK6KeDtCMegkESpba23jkVGaya/fQbEpBevJpYhxaMKhFNvISjFhmj49bdawo9cs69RvOgGcrYrXlWtV1Q2/9PawAwwSQ=",
    digest: 1060058210,
  },
  Q4_K: {
    blocks:
      "VhzHHbcNLK0NX832BvPfebYylQXn57GtAmpQrsx9mYhev5FyfuZVDsPaGiARWdhXiguysKnYhVOBUURgF3QFtUmD8OETZp9PbYaKfzM2ou4wSPaHf/cCAqSvr1puAUPnnhdw28+LOEL7YbqHZkd2GFKe0rh5A9KaavJU6s2LZwusYAoMdCo38d6toRis9x5/",
    digest: 1954956481,
  },
  Q5_K: {
    blocks:
      "ESWxID0wPKu5h7LI87tThD4wQyDul+9S1Fzat1Zb6BGDRzYaZTkWyGdptbwg1cvY77Xr+MpvNvta7ipgNXHUCfsqYdmRaCsrgUQJf6OV9LQUWk6vHzKjTnvdEv4pTWiiG0R8b05avziKC3Hxe0ycoEDFLgWVqB7EtLxxAKewspv2UZoRjuy7cLC4jHSCohHdmUR4yBH9U06IoB2xUs3BH9rHI9gmscObi7kVklKyCRc=",
    digest: 4025486465,
  },
  Q6_K: {
    blocks:
      "qtwyWHGoYf7dIRlkq94dx35VIpOvoKhlclCARqAb5nJckFpvj9TfAM68ELTLoBQqrvFCa91ntrRFrE3nv0eUZPaBkKpk9D5GhUhaSSLvStVavHBi61YcDL8A/k15zLiKy2P17nsyQ1+Xzq7x0xC5DQhAqyBwtingMNZN/wMhJgPdygGKOh16byEfkvnD3n6SlhVcvgTuBJblVPfNtofHV3CxgTrdJHOtCPYOOrFGJvo7+oYHtNo8zhMXKTv4v7XlYBQXWg34R0XIAs1TXhBbimoh",
    digest: 2180533432,
  },
  IQ2_XXS: {
    blocks: "LyKrnOQqbzomAUKPogSBa/zurzDRhivtxJQaIRqMTtJA4Z3sYR7gnFrw91VA6/BGpe3WVmT0s/LOPBj6U8frM3k8",
    digest: 211563858,
  },
  IQ2_XS: {
    blocks: "Fh/MsiuMY3zKAFHghYIkFn25GJ0yinjKaYyjife24/MRg9iJwcY87BWyNVCxoz5MvYY1qzC10pVENP3Y80NmyHrsThm2YI4rY4k=",
    digest: 3995312979,
  },
  IQ2_S: {
    blocks: "6BwbFikvxY6UgG7Yj+H0GAWsokBO6mgLVWLqZjiUCCv/bQZ2KHRshkmjQiTYpSB9tZH2lYgC4oG79jPjMmL8YuThCvHYRKLRqeoGKtH80nMIXQ==",
    digest: 3076474492,
  },
  IQ3_XXS: {
    blocks:
      "ISNSbz178lIerfkDLjLc9hyNVpyc/kaBIOTP3SNA+oxJCihrGK95ZoYlZECV2RmX9iQTDBoZ4Jk2Dui86JEZjBMV2ZSIsv2Ny02FdUgRsDACYf2P56+CDKNONNGWFH68An0=",
    digest: 1146323402,
  },
  IQ3_S: {
    blocks:
      "AST/F6F3LGsrmNVNcyDgJy6nYw3y+4vakki/tKZe4syQinyqpOzCOeGmflCDPpvbBNIEAS3EBsQZQ18ccTKiThzKVXhBm0LkwefogjOmrAzw+o3A3thPA2rrpoSCoyfCObwsaid466vuhmkCU58=",
    digest: 1459130848,
  },
  IQ1_S: { blocks: "diD90MG0CKoRw6PQp6bbzzegJ9YVJQXa5Rr3H2kKzfTCcRXlL1VqE4vijQrDuRoR6nk=", digest: 1616325111 },
  IQ4_NL: {
    blocks:
      "MyPvypRzY/vOVqhPslsizw797iRT2Wc5/1z56ab7rIB1439TkB+Eey1DwoYHiXcUnatj3rzTVB5MQ5zUEql2Kjg/lti5lZ3eeyHa5rQGqiWgd79uhLSUFDwAASEDakfup/8NxwBjPtS4c53yyCAQ9Yvrldp61FlN0kZEzbui9iBYLNu7z4VU68AsMLMg4w9e",
    digest: 1606204491,
  },
  IQ4_XS: {
    blocks:
      "myThDNpF7AqsHd2ypzqPAncUo3sMbg1DIk7q+4d4y51gpXEB+nrGULyn4knc83yFrt7/X7hU2YP284sF0CcLP60wkCgCE9VEabu9yY/E51i+cHgTI9dNAZryPPN4ZOu/i2AhbbfDSV16Mh2OZY/kRDY3VFuU5+oMqp4AEmAhyz0Rr8UUsggxVg==",
    digest: 1674576067,
  },
};
