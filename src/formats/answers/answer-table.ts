/** Made by scripts/generate/decoder-answers.ts; not to be edited. */
import type { AnswerTable } from "./known-answers.ts";

export const answerTable: AnswerTable = {
  elements: 512,
  blocks: {
    Q4_0: {
      blocks:
        "WDNGNHSVh1BGi5llQb+bLEjI2TOXcxiJebZ2d1lYjHBVWImNALAAAAAAAAAAAAAAAAAAAAAAC7SHincF2YUanIhWh2mljGpoLTSZx1lwxkd4vFcor3vYd6aG1TMclotnp03W/KScbZ2XSaBs/DNHxHu01bSNmIiZVaw4YKeWcjOHmqnCrJZdVZaiebjgtbHJHbd0p4i4um1YWYZeZ7lAmoN80zZp6lflPIdNjD1ocIjpJlxadTZvaCSFmgZlqKNJmEppyHQGJjd6eHSph290xwpYdL93OlaoyrTDPqnEqH44GshZlZ8AZWqYVDiLffeK8Ie3mFlomcNnlhRtybTruHSoKMyPSHV/YBW8JSbXU7YKp2/4SYzItZmodWjEhbWn",
      digest: 1385355370,
      layout: "32 in 18 bytes, groups of 32, codes of 4 bits from -8",
    },
    Q4_1: {
      blocks:
        "LTNYv0Y0hJWHUEaMqnVCv5ssSMi0Mtm/qYMZmovXh4hbaa6AVWmanwAAADwAAAAAAAAAAAAAAAAAAAAANTNuvWhkd/oEaeRRZphnhUlhlJZiNC3AmLZYcLZGd6xXKJ96x3emhtQz1b8clotnp03W/KScbZ2XSaBs9zL8v0jljdX11K65matmzUlwyKfIMnK/h6u60r2nblaXsnrJ8MbB2qw2ZMGLSGY2NIGnlnighza/VHyCeTbTwmn7WPY8h16dPXlwieo3bVubNnXCb2ckhZkGZaiiSZdKach0BZ03JsN5eHSpdl90xglYdK5nOVaXpjTbvzyxVTtXgcblJ6VqYP+alVeAOFTEinz3efCHt5hZZ5izZpUUbL00GMAUR4tX1zNwt4qAn+pC2tkokjb/wfVokQe2dDhbZmeLlzt6Wmg=",
      digest: 2376779134,
      layout: "32 in 20 bytes, groups of 32 with minima, codes of 4 bits from 0",
    },
    Q5_0: {
      blocks:
        "WC+A+YiZfVj4Kf2QjAcz23NtJTiAgNkvGOchBC/mL/HjfOzukqAY0Jmg8foArAAAAAAAAAAAAAAAAAAAAAAAAAAAC7DS6bE1DfP+CbMKIxgBvB/CSwm0sC0whQ6T1CJ9oeB8ju9YvjBP5a/+XA3VL6Wu1ls5PAbdPYms6FgXuisdglDJ/C/EGvrLfon2eal4GTAPEqpXcMBOLXIvVow++/4lUoQ4PKqqHETSYLBbcnIds/yqHinoTgFxZdqgsQ2sznKANPbo0zLT26oQscSfy1gNmhlp0ODxsly4lHUykTqYJd/PSAkjC8lBRYMvhMKQ+RsmMyuriIjj4OdS/b/4ngOx6G3ec70wyrDmSh2NhntDeD/bYSSfoykdALnDP1Q0i4X1LBXq/vPwDm4hss8ids0rOMnJsGkSa5C3X+lQT5cOj9r9wCppSk2fU7J9C+rzBT7N8IIIgFkiMenAmApqTg==",
      digest: 1192388914,
      layout: "32 in 22 bytes, groups of 32, codes of 5 bits from -16",
    },
    Q5_1: {
      blocks:
        "8S5Yv4D5nJmNWAg6DqCdGETbc383OZGgfC7Zv53n+8xSFyMlFs8fEbbETQC7wzUvAAAAPAAAAAAAAAAAAAAAAAAAAAAAAAAA+i5uvSkSSMrA2e/0CcPZs8sxzhqD0igtPjAtwIUOk9QhfaHgfI3vWL4wP+Wv/VwNky/Vv6Wu1ls6TAfeToq8+VgoyzwuklDKvS78v8Vb/suB2xq6+7lOYyJGy5yD4IFfkC5yv1aMP/sfSHW0a17NvD519JLwjKKkdDJkwQNR4ZYGkNxteBNOPOFAL2tvqegFRDLTwtfbqhjD9qDrah6dK3vi8BLkXsqmZTJ1wpE6mCXfz0gZIwzJQUWDP4TCkfkbXjMmwysriIjj4OdC/b/njQOg6GzeY60/gDDbvwk04nJogptmvxKd2l9bxdD/NSq/WzRUxIuF9SwV6f7z8A5uIbLPInbNKzjJljAYwATtlG83nwafv1fwfxQBP9WFtLJQXDL/wcL0FQz7wTIPffdwpt3OFj9n9pWx",
      digest: 1759627221,
      layout: "32 in 24 bytes, groups of 32 with minima, codes of 5 bits from 0",
    },
    Q8_0: {
      blocks:
        "ZyPlvr3M7IHfNxXVmWorPf39uqn2EfvLwwMX5rktD5nEQukj9K/8ChTj4vIRAj+Byv0LTA7tj/nyNu/xys8F6crR/PoIIH9/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/EyQW5RA36S3ovvkcC/IqvOQC/gYIf6v+b/b8Kvoi3gMkJDUkDesKgd/t+UPzA3sq+e7h5xA50vQ7wO4p15od8FD3JwDlI0fdM+nrSuBCwDlRVekNgUaZFwDnG8BObyYJ2hMJxCXdBiTyyDLHyr5J/vgTzjoAgfPmuUP1N1E1CBT8CdMmt90hD4Ej7CcRnT7kTNLjow0AgdiQDfkOJTwbFtLNCSTpM1opNTorJz0S+fzZswT1HKAM8n/gUMIR4PzI0RwxKQIyHstA6wYQ4SYLIfXUPOpSRUgCgQYT5D4k22PJX6v+xQWx5+77WqfWyYImdfrCyxncywepFPodEAPG2ebfoQMNgd0eIcITwd9E9Yk0JxkCvRHrf77sHAfCavAa6P7y8fQm+tz3RYHV8DLqtdUZ1CRMqeo+Bqj84AXoNph/NOQFxEjexucVU3C7Me/3fyQe7FwoKEzyG4Hv7wUS+w2z69nBSQXxefp4Ay8O190QON4Rl+HTJMsHOgMHxpMHLph/M7ktGwyn1Q3bXbsDQBYLIW/PXl+2YCbcD5cB7MIENu75N/w/My4Pf+cjiEL9vdjw5hIeuv7T4w==",
      digest: 1830546441,
      layout: "32 in 34 bytes, groups of 32, codes of 8 bits from -128",
    },
    TQ1_0: {
      blocks:
        "iRg0Nog3id2JNFLDxtyIpjQ1bI2HUDeLbG804msYOOK2Jd95e7On8UfUrOJ8Vkm5goy7xAA445tzW00HkJjrNGGM1hLkPlk/WUkOybDjaa3VJOYWYV3ItqXSSh0+hMJaqlQDVRy27iC1EwA4",
      digest: 3005221704,
      layout: "256 in 54 bytes, groups of 256, codes of 2 bits from -1",
    },
    TQ2_0: {
      blocks:
        "ZWBkpGWkZSZlZGhioiZlaWRkYaUlaKRlYaFkpiFgpKZZgWkEhEmlGlEZSmoVBRBZQWaUpWZgGRpYlEGlhoGqkQA4plkFQSiACRmKZBGlVpAKSEFIQZhQBkKmIQJWhAogEYEKWCVaUQBBlGlFpmCCoqBZhAKYBKlFGiZQEmmpAmoiAQA4",
      digest: 3005221704,
      layout: "256 in 66 bytes, groups of 256, codes of 2 bits from -1",
    },
    MXFP4: {
      blocks:
        "fev+ni2a3+wFMrzvVyT20GB9Ka7wkaNcrKrS0Ba/3dCRln1mZmZmZmZmZmZmZmZmZmZmfgEKEWPZA2qcADIBKaMMKiB+EUmxnkrJkDS50CaTUJk6Cn32PAW7O+Zsdk4Wxycb4k/GfeptlV59XhYwCRLdRuDPSit9miRCbzY71t0bT7FQf0xfUn4lwgnZ3D5QSQNfMdpnrBYtfsF02XzlCtYW5rCvkWLrxdR+t7ntDRP8zTE+0inTslCd/H6joJ5CmseeavPBrleq48swfsVdusSgLVBq0EqUnmY0KqB/A5VpAm4JORCxoBFNqRvspH7csRSwUdwOQSMeJmTNY2LRfnyiP/BaDdDFqrklMNUFxLI=",
      digest: 1895444386,
      layout: "32 in 17 bytes, groups of 32, codes of 5 bits from -12",
    },
    Q2_K: {
      blocks:
        "gK9617ywlEr7mOfBdcc0P2xurGKwHoYlUCcVd9VSD5bIcS4fnqnscY7Zg+iL5KA4+dkQKtVHxrX6dlX2/F04fzI4mBKRcAAEfvGAMCMQewbZIQcfLur57jCAsZn6ap7OQ9TvsCQWO6J3uPp1Wc9BRK77AozPUSx0cMkAvuPtI3K7hnAcfWx0kCb7tu8lT3r/n1Xo2mtvrLnxO3cWVCybCsAvvBvhHAMh",
      digest: 115840061,
      layout: "256 in 84 bytes, groups of 16 with minima, codes of 2 bits from 0",
    },
    Q3_K: {
      blocks:
        "LAM9LVi7/bEdLkrhMkFqC3l5bjhTVnmDEuPkA5DkabIL6uI7sODOtseK6KeDtCMegkESpba23jkVGaya/fQbEpBevJpYhxaMKhFNvISjFhmj49bdawo9cs69RvOgGcrYrXlWtV1Q2/9PawAwwSTFeqgz1mFOjQFFB4aSYF2LEFEGE9r3+G42OXT/iPubP77q2sohu1is4Xl6sZwlQv0tipsa1TmJrxWoONRYxB9VrPLIKvLyBqQxO8oFA0Tfyq4N/iqVmDZSe1cWY/xXKaNsqJ6pyqA+fF/9gl2xHA==",
      digest: 2328383596,
      layout: "256 in 110 bytes, groups of 16, codes of 3 bits from -4",
    },
    Q4_K: {
      blocks:
        "VhzHHbcNLK0NX832BvPfebYylQXn57GtAmpQrsx9mYhev5FyfuZVDsPaGiARWdhXiguysKnYhVOBUURgF3QFtUmD8OETZp9PbYaKfzM2ou4wSPaHf/cCAqSvr1puAUPnnhdw28+LOEL7YbqHZkd2GFKe0rh5A9KaavJU6s2LZwusYAoMdCo38d6toRis9x5/qRnmIujzqKhsjiQEMAmfVYxm+ppnTzM+s/qyLBLuydwUxuO6bslJUC4po/MhUlaswbW26MEl9da2FV0/WJPE2/mma4OeT7evywmAgbICV/I+Km2paF3ma+zQ5nFJ/7TRIyIGD4+zPX8WR0gdy6AGxv8hjzMe0g/v38+BOBRXte3EGnwcGWlacOnB8ABMxbUZ",
      digest: 261386850,
      layout: "256 in 144 bytes, groups of 32 with minima, codes of 4 bits from 0",
    },
    Q5_K: {
      blocks:
        "ESWxID0wPKu5h7LI87tThD4wQyDul+9S1Fzat1Zb6BGDRzYaZTkWyGdptbwg1cvY77Xr+MpvNvta7ipgNXHUCfsqYdmRaCsrgUQJf6OV9LQUWk6vHzKjTnvdEv4pTWiiG0R8b05avziKC3Hxe0ycoEDFLgWVqB7EtLxxAKewspv2UZoRjuy7cLC4jHSCohHdmUR4yBH9U06IoB2xUs3BH9rHI9gmscObi7kVklKyCRceIuUiHzGdUekVXgMtFf+xF4jdvrfICcMkf3XojkPfc3XjVUPwhQQVVt2QXuNUU4HCdEA6wl12uSBVuCjXijQYLhq1HFrGWiJognvJ/TkVnJ4hkSMi8HJU3JRt8OquigE5xZqVk8CgmFjOrM14AyioZcW6p9VXeT5la2USKCn19MYi6vbq8vEOxzGQP+JuLVAJDxfZQQr2S4bl7sFaepFt0SaVx8WG22MZSeRoc6i43w==",
      digest: 2544909538,
      layout: "256 in 176 bytes, groups of 32 with minima, codes of 5 bits from 0",
    },
    Q6_K: {
      blocks:
        "qtwyWHGoYf7dIRlkq94dx35VIpOvoKhlclCARqAb5nJckFpvj9TfAM68ELTLoBQqrvFCa91ntrRFrE3nv0eUZPaBkKpk9D5GhUhaSSLvStVavHBi61YcDL8A/k15zLiKy2P17nsyQ1+Xzq7x0xC5DQhAqyBwtingMNZN/wMhJgPdygGKOh16byEfkvnD3n6SlhVcvgTuBJblVPfNtofHV3CxgTrdJHOtCPYOOrFGJvo7+oYHtNo8zhMXKTv4v7XlYBQXWg34R0XIAs1TXhBbimohKfVIvCv/tTG4bxYPwKLzZ0piPDBTQftAbCh1yvpRQ8fLVbjo/2Tr3mg9QBi943g3dkaf4pUNoRwjjgzOjrE/84/gWAHw2PoGlTrBOqdv8uQO8FO7dVdJ/FjYDikDEftx0qvUWm4WT5++p2sFGh+8Z0EcnikUCLAD/DBxYc8eBkDsfh7arEsIdm5U5LdVZk6hoHULuprBkpyym3U7B/oEHZwGXLBD98Z9vDif/sB09sQv/UXr3Vw+ALsBZHN5FiIe5jCNYG52Cwpq9swfV3d1vgYa",
      digest: 210098899,
      layout: "256 in 210 bytes, groups of 16, codes of 6 bits from -32",
    },
    IQ2_XXS: {
      blocks:
        "LyKrnOQqbzomAUKPogSBa/zurzDRhivtxJQaIRqMTtJA4Z3sYR7gnFrw91VA6/BGpe3WVmT0s/LOPBj6U8frM3k8cyQDEcJjGj37NggtNoCjtm2pPtTku4EaOoIQG6trBifE7Tf0qqq2tNjxSxSvulsfkhiuQFXnrk2aMAZA6CElFC4F",
      digest: 454483635,
      layout: "256 in 66 bytes, groups of 32, codes of 8 bits from -128",
    },
    IQ2_XS: {
      blocks:
        "Fh/MsiuMY3zKAFHghYIkFn25GJ0yinjKaYyjife24/MRg9iJwcY87BWyNVCxoz5MvYY1qzC10pVENP3Y80NmyHrsThm2YI4rY4mQJHupbUO+0Na9UzL5B/faVZpdPeexkjx79QLoiFjn7zmmB7wsuzq5tpMZydqykl9DQSu1Fa9WN4aYsPe6RN0mY8slG9RARLQNkw==",
      digest: 920831039,
      layout: "256 in 74 bytes, groups of 16, codes of 8 bits from -128",
    },
    IQ2_S: {
      blocks:
        "6BwbFikvxY6UgG7Yj+H0GAWsokBO6mgLVWLqZjiUCCv/bQZ2KHRshkmjQiTYpSB9tZH2lYgC4oG79jPjMmL8YuThCvHYRKLRqeoGKtH80nMIXQQfyOI4tM8UFjdqvRttxme1w4MfgRJsNX2xpea719VYIPJAsJqVBRCm5ImjP+CBIf47LkkhVmx0MEJ1HMDSREK9Iq/Ropya2eK3BP1QdxVIgoU=",
      digest: 775751915,
      layout: "256 in 82 bytes, groups of 16, codes of 8 bits from -128",
    },
    IQ3_XXS: {
      blocks:
        "ISNSbz178lIerfkDLjLc9hyNVpyc/kaBIOTP3SNA+oxJCihrGK95ZoYlZECV2RmX9iQTDBoZ4Jk2Dui86JEZjBMV2ZSIsv2Ny02FdUgRsDACYf2P56+CDKNONNGWFH68An1zHTs7QRwACC6BYCYq6okUCyFjQSp2MKIXL85vQJTLMgHHs0zhttB8PlHj8+gPJk/v8FziZ5Zzpth/vQT2zk/ZrUqRyU57rmhy8keumVkjCs6wr8sDc/A4iDnBYEe5D4e0iQ==",
      digest: 3991116346,
      layout: "256 in 98 bytes, groups of 32, codes of 8 bits from -128",
    },
    IQ3_S: {
      blocks:
        "AST/F6F3LGsrmNVNcyDgJy6nYw3y+4vakki/tKZe4syQinyqpOzCOeGmflCDPpvbBNIEAS3EBsQZQ18ccTKiThzKVXhBm0LkwefogjOmrAzw+o3A3thPA2rrpoSCoyfCObwsaid466vuhmkCU5+oHYkQ3JXwp2GHKynPNtzOFzac/qW/V2qf2POcImOA9bY2cRC//9/mKlarcvVkuvRi6iImCY9UF96HVE7VLEyDd+L2RO+WW7Ys2hQ8rzRhPLUXNrMjbJZCxc0adJfJe3kF6H2v6XbBPstaHW5S1Q==",
      digest: 1949241126,
      layout: "256 in 110 bytes, groups of 32, codes of 8 bits from -128",
    },
    IQ1_S: {
      blocks:
        "diD90MG0CKoRw6PQp6bbzzegJ9YVJQXa5Rr3H2kKzfTCcRXlL1VqE4vijQrDuRoR6nmsJDwPcuQw8HtewkhrHZlGJbYRj/LMyw7zbLKSbWBgqNNspmvgGJa29hzXackgkYpSbg==",
      digest: 1377976400,
      layout: "256 in 50 bytes, groups of 32, codes of 8 bits from -128",
    },
    IQ4_NL: {
      blocks:
        "MyPvypRzY/vOVqhPslsizw797iRT2Wc5/1z56ab7rIB1439TkB+Eey1DwoYHiXcUnatj3rzTVB5MQ5zUEql2Kjg/lti5lZ3eeyHa5rQGqiWgd79uhLSUFDwAASEDakfup/8NxwBjPtS4c53yyCAQ9Yvrldp61FlN0kZEzbui9iBYLNu7z4VU68AsMLMg4w9e9h35S7/ClAyS4EqQFkxwwpd8CiVoIec59G0hqMjpi6jT4x+LcxyvkOQmPDpYzZmowYiKg8K81CAEqAWEcSEeU9ZSo1DiqMSSCSWj9/tDh9zr+ci+no1QenDUxiNZWE+2K5AByavqZ3m8/9g41R0H/Yg3nS2BJV3WRAgHji7PRiTU/ZP9Z8F7xWKa8yXIpBdu",
      digest: 3366552924,
      layout: "32 in 18 bytes, groups of 32, codes of 8 bits from -128",
    },
    IQ4_XS: {
      blocks:
        "myThDNpF7AqsHd2ypzqPAncUo3sMbg1DIk7q+4d4y51gpXEB+nrGULyn4knc83yFrt7/X7hU2YP284sF0CcLP60wkCgCE9VEabu9yY/E51i+cHgTI9dNAZryPPN4ZOu/i2AhbbfDSV16Mh2OZY/kRDY3VFuU5+oMqp4AEmAhyz0Rr8UUsggxVvwh0C2vYG/vmlJEk9D0MajhC7SGrQnJpTWYjO15QzLKg5Ei60jzQ/no3UGlPM2/oGsgZrqaIPONioO6rtbJTskjGLRE49xRzCHHzr6IK/Gn+kwiAK7+ryoR15q+z1AJ9bNK8fvAqPbuOjD692nEQbHbD28R34EtREjU3L+AEPfvKKti5I5dYBg=",
      digest: 215364965,
      layout: "256 in 136 bytes, groups of 32, codes of 8 bits from -128",
    },
    IQ1_M: {
      blocks:
        "njzaeBe1U/GPLsxqCKdF44Efvlz6mDbVcxGvTuyKKMZlA6E/3nwauFb1kzHPbQyqSOaFI8Ff/Zw62HYVs1HvjSzKaAakQ+F/Hbxa+JY003EPrUvqiCbEYwGfPdt6GLZU85EvzWsKqEbkgiG/XfuaOA==",
      digest: 1885478785,
      layout: "256 in 56 bytes, groups of 16, codes of 8 bits from -128",
    },
  },
  i2s: {
    bytes:
      "ECmSKEURhiaIGVBpCQACUIgkASZZBIKQYShaVgQQJGaAgEUAYQhomkBKREChAQAZAIBhGFpkEQAlSSoAFWKgQEAiAgCIkWiBBiVkElJRAkFBKhmihCFGEBIIGCqGSAQQSaAQapQAJpiARGIAEQQoBpWARAYkKUlACEAEqQiWgAAKAEgIGIBqiKEBAQgCJGRgCICSIQSQBKFEZUBkoRChUQIBhpBWAQRYEBIQGQhBBEUWSCqGIREAhSmCAhCBYJIZgkoiSJRkShaYQKIkAQgKigCIACkJmRAWokKBpUKAAoAJIVZFqAGAEkiZQiCVGlCQhKBiIlYhKgRYgIAAhkUAgpqZGT0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    digests: { x86: 1435327846, "x86-interleaved": 520053318, arm: 2706076646 },
  },
  tables: {
    TL1: [3468979679, 1534591613],
    TL2: [932088560],
  },
  tiles: { TL1: 3598427330, TL2: 2123887826 },
  encoders: {
    Q8_0: 3086696660,
    Q4_0: 1615992383,
    Q4_K: 3016642398,
    TQ2_0: 3334408678,
    I2_S: 1782127297,
    F16: 3713731619,
    F32: 320765231,
  },
  packings: {
    int8: 1720851674,
    int4: 4087978765,
  },
  packingErrors: { int8: 0.003937007859349251, int4: 0.1666666716337204 },
};
