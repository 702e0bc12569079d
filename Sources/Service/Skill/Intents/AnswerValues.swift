import Alexa
import JSON
import OAuth

/// The values that a declared answer may name, for one request.
struct AnswerValues {
    let intent: Intent?
    let principal: Principal?
    let documents: [String: JSONDocument]

    /// The value as it is spoken or shown; nil where there is none, or it is no text, number or truth value.
    func text(_ reference: Reference) -> String? {
        switch reference {
        case .slot(let name): slot(name)
        case .subject: principal?.subject
        case .resource(let name, let path): element(name, path).flatMap(spoken)
        }
    }

    /// The value as it is compared.
    func json(_ reference: Reference) -> JSONValue? {
        switch reference {
        case .slot(let name): slot(name).map(JSONValue.string)
        case .subject: (principal?.subject).map(JSONValue.string)
        case .resource(let name, let path): element(name, path)?.value
        }
    }

    /// A slot that was asked for and not filled comes with an empty value from some devices.
    private func slot(_ name: String) -> String? {
        guard let value = intent?.slot(name)?.value, !value.isEmpty else { return nil }
        return value
    }

    private func element(_ name: String, _ path: [String]) -> JSONElement? {
        guard var element = documents[name]?.root else { return nil }
        for part in path {
            if element.kind == .array, let index = Int(part), let elements = element.elements {
                guard elements.indices.contains(index) else { return nil }
                element = elements[index]
            } else {
                guard let member = element.member(named: part) else { return nil }
                element = member
            }
        }
        return element
    }

    private func spoken(_ element: JSONElement) -> String? {
        switch element.kind {
        case .string: element.string
        case .bool: element.bool.map { String($0) }
        case .integer: element.integer.map { String($0) } ?? element.double.map(written)
        case .number: element.double.map(written)
        case .null, .array, .object: nil
        }
    }

    private func written(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }
}

extension RequestRule {
    /// The answer that the file declares for `call`.
    ///
    /// - Throws: ``SkillFailure`` where a permission, a resource or a value is missing; `rejection` where it is because
    ///   the account's token was not good.
    func answer(
        to call: SkillCall, defaultLocale: String, tokenRejection rejection: TokenRejection?
    ) async throws(SkillFailure) -> SkillResponse {
        let missing = permissions.filter { !call.envelope.hasGranted($0) }
        if !missing.isEmpty { throw .permissions(missing) }
        let intent = call.intent
        var values = AnswerValues(intent: intent, principal: call.principal, documents: [:])
        var unfilled: Reference?
        if !resources.isEmpty, call.principal != nil {
            var paths: [(name: String, path: String)] = []
            for (name, path) in resources {
                // A resource whose slot is not filled is not fetched: a case may ask for the slot.
                do { paths.append((name, try path.filled(values.text))) } catch { unfilled = error.reference }
            }
            let documents: [String: JSONDocument]
            do { documents = try await call.resources(paths) } catch { throw .resource(error) }
            values = AnswerValues(intent: intent, principal: call.principal, documents: documents)
        }
        do {
            return try answer(with: values, locale: call.locale, defaultLocale: defaultLocale)
        } catch {
            switch error.reference {
            case .slot(let name): throw .slotMissing(name)
            case .subject, .resource:
                if call.principal == nil { throw .token(rejection ?? .missing) }
                if let unfilled { throw .slotMissing(unfilled.name) }
                throw .valueMissing(error.reference.name)
            }
        }
    }

    private func answer(
        with values: AnswerValues, locale: String?, defaultLocale: String
    ) throws(MissingValue) -> SkillResponse {
        let holding = cases.first { $0.when.allSatisfy { $0.holds(values.json($0.reference)) } }
        let template = holding?.replacing(answer) ?? answer
        func words(_ texts: [String: TextTemplate]?) throws(MissingValue) -> (text: String, isSSML: Bool)? {
            guard let texts, let text = Locales.firstValue(in: texts, for: locale, defaultLocale: defaultLocale) else {
                return nil
            }
            return (try text.rendered(values.text), text.isSSML)
        }
        func speech(_ texts: [String: TextTemplate]?) throws(MissingValue) -> OutputSpeech? {
            guard let (text, isSSML) = try words(texts) else { return nil }
            return isSSML ? .ssml(String(text.drop { $0.isWhitespace })) : .plainText(text)
        }
        func card(_ template: CardTemplate?) throws(MissingValue) -> Card? {
            switch template {
            case nil: return nil
            case .simple(let title, let content):
                return .simple(title: try words(title)?.text, content: try words(content)?.text ?? "")
            case .standard(let title, let text, let small, let large):
                return .standard(
                    title: try words(title)?.text, text: try words(text)?.text ?? "", smallImageURL: small,
                    largeImageURL: large)
            case .linkAccount: return .linkAccount
            case .permissions(let scopes): return .askForPermissionsConsent(scopes)
            }
        }
        let reprompt = try speech(template.reprompt)
        let say = try speech(template.say)
        // What is said matters; a card without its values is left out rather than the words with it.
        let shown = (try? card(template.card)) ?? nil
        return SkillResponse(
            outputSpeech: say, card: shown, reprompt: reprompt.map { Reprompt(outputSpeech: $0) },
            shouldEndSession: reprompt == nil)
    }
}

extension RequestEnvelope {
    /// Whether the user granted a permission of the Alexa app.
    func hasGranted(_ scope: String) -> Bool {
        context.user?.hasGranted(scope) == true || session?.user?.hasGranted(scope) == true
    }
}
