//! How common two bytes are next to each other.

/// The most common pairs in transcripts, the most common first.
const COMMON: &[u8] = b"\
    ntinesreteerenstonattiseitorhetrletailaniorrngthriomedcossraecetalirsitolipogeroch/cdemmnsmit.utmecl\
    ckif//exarisasagnioindctaiouadfimaptkpunncuri/e/oola/eacharnmpveearsnetu-4peshdatss.mdhopausfodiprgo\
    01gi02crulcms/oleettnaemegepipfasarkokllloxtcacepu20e.d/scotamausunoplodopsoe-ef-cow-0elgyrygsogum.g\
    /s6-fuwoid26ost-ab11xpiewig.--kst:do-brurt10baew_0ddimichie:25ty/asptpgrldbelu1--a122-nvmoud-2ltevrf\
    bl5-nuyp-skeublsbu-11..1ue23hu2.t_x/13fmmt4-o/br14nflyktd-sko-ph159-0017vafewa44-9av_t.cxivi43upt/-8\
    513-16b.4919l_rmuaig340-42txbo-e21h/248-78lf090630/ws:2941n-45224618d.wh3332ap37iajsg-n.cu7-48frsgov\
    405058b-rcffuc47272852/g_cocu_-5/.39ib04m/eis-4ebyiv5964kirdms/d05jeeqf-..313656-dpp67733835a-c-8980\
    y.-t/tnp95869453td60bbk/0763n_55y/ob-fbchsaf61fl664fv/08035476uin:o:816991.i8865708497o.bd7587968582\
    72ixofg_57:5/mgg83cc99yt92.wb56274oad:90-pr.we77:1-69368-geb9bnlwr-v:2sly--omb98bi4a71h.cd-3-ra0e4tc\
    dle2b7a.3ddsbjpid7ay.39e6:r/f379a14dc1nnfy4b4cqu8dug-m8enkb1l-d9ze5:dcgt:0:33ec8tf_p2bq_:4b2f5ize_r:\
    b3cidb7b7dmu/ie3d5d3c3b6a2rzb03:bsf8-7e5d1/p6f.es_d42c1a.0z-b86eaae9c60.ak3bsb9c2:.jd_d64:a9f0a78b_r\
    3aa5df1cc4du9fa8gnf4fd5af19ays8ftlv.6a3.5c1ff6.2e1a32e5da6aeb4d01ec95b_i1bbfcfcbd86db92a0c3fe8c00e2d\
    f97f0d_uyof7a49d0brg6c1:.t0a2fx.pd1dy:8c/rc7fb0f5f3ce0tm5e7cc26beyc5e68a7ekah_.7lp./d27a/fe7cp-h_a7:\
    g:fc0osnojwkgurbf2ft/v-ighsykg_snyxeh-r-p.dy0:ps9:4./1/h/nwnl.nmoegauf.mlr5.-n.4c..5l:x-lcgmo6o_8:rv\
    htrli-hd.sh:.6-wn/-l.8g/lw6.sry_9.k_awyfikgl8.drc/lbv5eh/lp/sw.9wd/2.l_hxauurwknwsye7.0shrdxv1m-yzcs\
    _f:gzzaz_mkdw./blnrp-kp:fs_o5/a/twkul/cw.rhyzyeuf.myo7pycy\
    ";

/// How common each pair is: the pairs of `COMMON` by their rank, others by their bytes.
pub(super) static COSTS: [usize; 1 << 16] = {
    let mut table = [0; 1 << 16];
    let (mut first, mut second) = (0_u8, 0_u8);
    while first < 128 {
        while second < 128 {
            table[pair(first, second)] = frequency(first) * frequency(second);
            second += 1;
        }
        (first, second) = (first + 1, 0);
    }
    let mut n = 0;
    while n < COMMON.len() {
        table[pair(COMMON[n], COMMON[n + 1])] = 10_000 + COMMON.len() - n;
        n += 2;
    }
    table
};

pub(super) const fn pair(first: u8, second: u8) -> usize {
    first as usize | (second as usize) << 8
}

/// Where in `text` the two bytes begin that are least common elsewhere.
pub(super) const fn rarest_pair(text: &[u8]) -> usize {
    let (mut rarest, mut at) = (0, 1);
    while at + 1 < text.len() {
        if COSTS[pair(text[at], text[at + 1])] < COSTS[pair(text[rarest], text[rarest + 1])] {
            rarest = at;
        }
        at += 1;
    }
    rarest
}

/// How often a byte occurs in prose and code, of a thousand.
const fn frequency(byte: u8) -> usize {
    match byte {
        b'e' => 60,
        b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 45,
        b'l' | b'c' | b'd' => 28,
        b'h' | b'u' | b'm' | b'p' => 20,
        b'f' | b'g' | b'y' | b'w' | b'b' | b'_' | b'-' | b'.' | b'/' => 12,
        b'v' | b'k' | b'0'..=b'9' => 8,
        b'A'..=b'Z' => 4,
        _ => 2,
    }
}
