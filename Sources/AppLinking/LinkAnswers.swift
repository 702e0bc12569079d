public import Foundation

/// The two addresses that a link starts with, as the service made them.
public struct LinkStart: Hashable, Sendable {
    /// What opens the Alexa app, as a universal link only.
    public let alexaAppURL: URL
    /// What opens Login with Amazon where the Alexa app did not open.
    public let loginWithAmazonURL: URL
    /// The state that comes back: the app's own, or the service's.
    public let state: String
}

/// What is posted when the user is back.
public enum LinkCompletion: Hashable, Sendable {
    /// The address as it came back: the form to prefer, since the service reads all of it.
    case redirect(LinkReturn)
    /// Amazon's code with the state of the redirect, never a newly made one.
    case code(String, state: String)
    /// Amazon's error with the state of the redirect.
    case error(String, description: String?, state: String)
}

/// How a link came out.
public struct LinkResult: Hashable, Sendable {
    /// ``LinkStatus/linked``, or ``LinkStatus/pending`` where Alexa has not said yet.
    public let status: LinkStatus
    /// What support finds the attempt by.
    public let traceID: String?
}

/// What is linked.
public struct LinkOverview: Hashable, Sendable {
    /// The status over all.
    public let status: LinkStatus
    /// Each link.
    public let links: [LinkedSkill]
}

/// One link of the user with an Alexa user of one skill.
public struct LinkedSkill: Hashable, Sendable, Identifiable {
    /// What ``LinkClient/unlink(id:)`` takes.
    public let id: String
    /// Its status.
    public let status: LinkStatus
    /// The skill's name in the service's configuration.
    public let skill: String?
    /// `development` or `live`.
    public let stage: String?
    /// `NA`, `EU` or `FE`.
    public let region: String?
    /// Where it was begun: `app`, `web` or `alexa`.
    public let flow: String?
    /// Since when.
    public let linkedAt: Date?
}

struct StartAnswer: Decodable {
    var companionAppURL: String
    var LWAFallBackURL: String
    var state: String?
}

struct ResultAnswer: Decodable {
    var status: String
    var traceID: String?
}

struct OverviewAnswer: Decodable {
    struct Entry: Decodable {
        var id: String
        var status: String
        var skill: String?
        var stage: String?
        var region: String?
        var flow: String?
        var linkedAt: String?
    }

    var status: String
    var links: [Entry]?

    var overview: LinkOverview {
        LinkOverview(
            status: LinkStatus(word: status),
            links: (links ?? []).map { entry in
                LinkedSkill(
                    id: entry.id, status: LinkStatus(word: entry.status), skill: entry.skill, stage: entry.stage,
                    region: entry.region, flow: entry.flow, linkedAt: entry.linkedAt.flatMap(date))
            })
    }
}

struct FlipAnswer: Decodable {
    var openURL: String
}

extension LinkStatus {
    /// A word of a newer service is not known here.
    init(word: String) { self = LinkStatus(rawValue: word) ?? .unknown }
}

/// A time in ISO 8601, with or without fractions of a second.
private func date(_ text: String) -> Date? {
    let formatter = ISO8601DateFormatter()
    if let date = formatter.date(from: text) { return date }
    formatter.formatOptions.insert(.withFractionalSeconds)
    return formatter.date(from: text)
}
