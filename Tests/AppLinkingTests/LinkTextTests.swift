import AppLinking
import LinkMessages
import Testing

@Suite("What an app says") struct LinkTextTests {
    @Test("a language is chosen by the user's list")
    func languages() {
        for (preferred, language) in [
            ([], LinkLanguage.english), (["de-AT"], .german), (["ja_JP"], .japanese), (["EN"], .english),
            (["fr-FR", "de"], .german), (["fr"], .english), (["dex"], .english),
        ] {
            #expect(LinkLanguage(preferred: preferred) == language, "\(preferred)")
        }
    }

    @Test("the three cases of Amazon's page have their words in each language, a refusal by the user has none")
    func words() {
        #expect(
            LinkErrorKind.problem.userMessage(.english)
                == "We can't connect to Alexa to link your account right now. Please try later.")
        #expect(
            LinkErrorKind.unexpected.userMessage(.english)
                == "Alexa had an unexpected problem while linking your account. Please try again.")
        #expect(
            LinkErrorKind.momentary.userMessage(.english)
                == "Alexa is briefly unavailable, so your account was not linked. Please try again later.")
        var texts: Set<String> = []
        for language in LinkLanguage.allCases {
            #expect(LinkErrorKind.declined.userMessage(language) == nil)
            for kind in LinkErrorKind.allCases where kind != .declined {
                texts.insert(kind.userMessage(language) ?? "")
            }
            texts.insert(AlexaLinkRefusal.stateExpired.userMessage(language))
            texts.insert(AlexaLinkRefusal.stateUnknown.userMessage(language))
            #expect(
                AlexaLinkRefusal.redirect(.malformed).userMessage(language)
                    == AlexaLinkRefusal.stateUnknown.userMessage(language))
        }
        #expect(texts.count == 15 && !texts.contains(""))
    }

    @Test("trying again is advised where it helps")
    func retry() {
        #expect(LinkErrorKind.declined.retry == .now)
        #expect(LinkErrorKind.unexpected.retry == .now)
        #expect(LinkErrorKind.momentary.retry == .later && LinkErrorKind.problem.retry == .later)
    }
}
