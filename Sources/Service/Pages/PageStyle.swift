/// The style sheet of every page: one card, the system's fonts, the company's colour, light and dark.
struct PageStyle: Sendable {
    let css: String

    init(color: PageColor) {
        let light = color.readable(on: .lightCard)
        let dark = color.readable(on: .darkCard)
        css =
            ":root{color-scheme:light dark;--brand:\(color.css);--on-brand:\(color.readable.css);"
            + "--link:\(light.css);--edge:\(color.readable(on: .lightCard, atLeast: 3).css);"
            + "--page:#f2f4f7;--card:#fff;--text:#171b22;--quiet:#525b69;--line:#7c8695;--soft:#dfe3e9;"
            + "--bad:#a8171f;--bad-soft:#fdf0f0}"
            + "@media(prefers-color-scheme:dark){:root{--link:\(dark.css);"
            + "--edge:\(color.readable(on: .darkCard, atLeast: 3).css);--page:#11151b;--card:#1c2129;"
            + "--text:#eceff4;--quiet:#aab3c0;--line:#8a94a3;--soft:#333b47;--bad:#ff9b9b;--bad-soft:#3a2024}}"
            + Self.rules
    }

    private static let rules = """
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--page);color:var(--text);min-height:100vh;display:flex;flex-direction:column;
        align-items:center;padding:16px;overflow-wrap:anywhere;
        font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Noto Sans","Hiragino Sans",
        "Yu Gothic UI",Meiryo,"Noto Sans CJK JP",sans-serif}
        header,main,footer{width:100%;max-width:440px}
        header{display:flex;align-items:center;gap:12px;padding:16px 4px;min-height:72px;font-weight:600}
        header img{height:40px;width:auto;max-width:160px;object-fit:contain;flex:none}
        @media(prefers-color-scheme:dark){header img{background:#fff;border-radius:10px;padding:4px}}
        .mark{width:40px;height:40px;border-radius:10px;background:var(--brand);color:var(--on-brand);flex:none;
        display:flex;align-items:center;justify-content:center;font-size:20px;font-weight:700}
        main{background:var(--card);border:1px solid var(--soft);border-radius:16px;padding:24px}
        h1{font-size:24px;line-height:1.25;margin:0 0 8px;text-wrap:balance}
        h2{font-size:16px;line-height:1.4;margin:0 0 8px}
        p{margin:0 0 16px}
        p,li{text-wrap:pretty}
        :lang(ja){word-break:auto-phrase}
        main>:last-child{margin-bottom:0}
        .quiet{color:var(--quiet);font-size:14px}
        a{color:var(--link)}
        .quiet+.quiet{margin-top:-16px}
        .quiet a{display:inline-flex;align-items:center;min-height:44px}
        label{display:block;font-weight:600;margin:16px 0 4px}
        input:not([type=hidden]){width:100%;min-height:48px;font:inherit;color:inherit;background:var(--card);
        border:1px solid var(--line);border-radius:10px;padding:10px 12px}
        input[aria-invalid=true]{border:2px solid var(--bad);padding:9px 11px}
        .wrong{color:var(--bad);font-size:14px;margin:4px 0 0}
        .summary{border:2px solid var(--bad);background:var(--bad-soft);border-radius:10px;padding:12px 16px;margin:16px 0}
        .summary ul{margin:0;padding:0;list-style:none}
        .summary a{color:var(--bad);display:inline-block;min-height:44px;padding:10px 0}
        .summary p{margin:0}
        button,.button{display:flex;align-items:center;justify-content:center;width:100%;min-height:48px;font:inherit;
        font-weight:600;border-radius:10px;padding:10px 16px;cursor:pointer;text-decoration:none;text-align:center;
        border:1px solid var(--edge);background:var(--brand);color:var(--on-brand);margin:24px 0 0}
        button.second,.button.second{background:transparent;color:var(--text);border-color:var(--line);margin-top:12px}
        button.plain{background:transparent;border-color:transparent;color:var(--link);text-decoration:underline;
        margin-top:12px;min-height:44px}
        :focus-visible{outline:3px solid var(--link);outline-offset:2px}
        ul.scopes{margin:0 0 16px;padding:0;list-style:none;border-top:1px solid var(--soft)}
        ul.scopes li{padding:12px 0;border-bottom:1px solid var(--soft)}
        .who{display:flex;flex-direction:column;background:var(--page);border-radius:10px;padding:12px 16px;margin:16px 0}
        .who span{color:var(--quiet);font-size:14px}
        section{border-top:1px solid var(--soft);padding:16px 0}
        section p{margin:0}
        form+section,form+p{margin-top:24px}
        footer{display:flex;flex-wrap:wrap;gap:0 20px;padding:8px 4px;font-size:14px}
        footer a{display:inline-flex;align-items:center;min-height:44px}
        @media(min-width:600px){body{padding:40px 16px}main{padding:32px}}
        @media(prefers-reduced-motion:no-preference){button,.button{transition:filter .1s}}
        button:hover,.button:hover{filter:brightness(.95)}
        """
}
